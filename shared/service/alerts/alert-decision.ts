/** Decides when the owner is alerted: a pure function. */

/** Minutes between consecutive alerts; the last interval repeats. */
export const GAPS_MS = [10, 30, 60, 120, 240].map((minutes) => minutes * 60_000)
/** Causes that recur within this time belong to the same incident. */
const CALM_MS = 60_000

export interface Bilingual {
  readonly 'zh-Hant': string
  readonly en: string
}

/** A cause of trouble. A failure stops the event's data; a warning precedes a possible failure. */
export interface Cause {
  readonly key: 'database' | 'flush' | 'disk' | 'dead-letters' | 'lost' | 'clock' | 'slots'
  readonly failure: boolean
  readonly text: string
}

/** An incident; all concurrent causes share one incident and one schedule. */
export interface Incident {
  readonly id: string
  readonly openedMs: number
  /** Number of scheduled alerts so far. */
  readonly alerts: number
  readonly lastAlertMs: number
  /** Number of periods of failure that were alerted. */
  readonly failures: number
  /** Start of the current period with warnings only; null during a failure. */
  readonly mildSinceMs: number | null
  /** Start of the current period without causes. */
  readonly calmSinceMs: number | null
}

interface Decision {
  readonly say: 'nothing' | 'alert' | 'recovery'
  readonly next: Incident | null
}

/** Decides what to send now. @param newId id of the incident if a new one begins */
export function decide(
  incident: Incident | null,
  causes: readonly Cause[],
  nowMs: number,
  newId: string,
): Decision {
  const failure = causes.some((cause) => cause.failure)
  // A time of the future, by a clock that was ahead, would silence the alerts until then.
  const past = (ms: number | null): number => Math.min(ms ?? nowMs, nowMs)
  if (incident === null) {
    if (causes.length === 0) return { say: 'nothing', next: null }
    const severity = failure ? { failures: 1, mildSinceMs: null } : { failures: 0, mildSinceMs: nowMs }
    const next = { id: newId, openedMs: nowMs, alerts: 1, lastAlertMs: nowMs, ...severity, calmSinceMs: null }
    return { say: 'alert', next }
  }
  if (causes.length === 0) {
    const calmSinceMs = past(incident.calmSinceMs)
    return nowMs - calmSinceMs >= CALM_MS
      ? { say: 'recovery', next: null }
      : { say: 'nothing', next: { ...incident, calmSinceMs } }
  }
  const { failures, mildSinceMs } = incident
  const begins = failure && mildSinceMs !== null && (failures === 0 || nowMs - mildSinceMs >= CALM_MS)
  const going: Incident = {
    ...incident,
    openedMs: past(incident.openedMs),
    lastAlertMs: past(incident.lastAlertMs),
    calmSinceMs: null,
    failures: failures + (begins ? 1 : 0),
    mildSinceMs: failure ? null : past(mildSinceMs),
  }
  const gapMs = GAPS_MS[Math.min(incident.alerts, GAPS_MS.length) - 1]!
  if (nowMs >= going.lastAlertMs + gapMs)
    return { say: 'alert', next: { ...going, alerts: incident.alerts + 1, lastAlertMs: nowMs } }
  // A failure during an incident of warnings is alerted immediately; the schedule is unchanged.
  return { say: begins ? 'alert' : 'nothing', next: going }
}

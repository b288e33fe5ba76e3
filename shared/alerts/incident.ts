/** When the owner hears of trouble: a pure function of the incident so far, what is wrong now, and the time. */

/** Decisions, 8: after the first alert the next ones come after so many minutes, the last gap for ever. */
const GAPS_MS = [10, 30, 60, 120, 240].map((minutes) => minutes * 60_000)
/** Trouble that comes and goes within this time is one trouble. */
const CALM_MS = 60_000

/** What may be wrong. A failure stops the event's data; a warning says that it soon may. */
export interface Cause {
  readonly key: 'database' | 'flush' | 'disk' | 'dead-letters' | 'lost'
  readonly failure: boolean
  readonly text: string
}

/** All causes share one incident and one schedule. */
export interface Incident {
  readonly id: string
  readonly openedMs: number
  /** Alerts on the schedule so far. */
  readonly alerts: number
  readonly lastAlertMs: number
  /** Failures that were told of, each as one for as long as it lasted. */
  readonly failures: number
  /** Since when there are warnings only; null while there is a failure. */
  readonly mildSinceMs: number | null
  /** Since when nothing is wrong. */
  readonly calmSinceMs: number | null
}

export interface Decision {
  readonly say: 'nothing' | 'alert' | 'recovery'
  /** The incident once that is said. */
  readonly next: Incident | null
}

/** What to say now. @param newId names the incident that begins, if one does */
export function decide(
  incident: Incident | null,
  causes: readonly Cause[],
  nowMs: number,
  newId: string,
): Decision {
  const failure = causes.some((cause) => cause.failure)
  if (incident === null) {
    if (causes.length === 0) return { say: 'nothing', next: null }
    const told = failure ? { failures: 1, mildSinceMs: null } : { failures: 0, mildSinceMs: nowMs }
    const next = { id: newId, openedMs: nowMs, alerts: 1, lastAlertMs: nowMs, ...told, calmSinceMs: null }
    return { say: 'alert', next }
  }
  if (causes.length === 0) {
    const calmSinceMs = incident.calmSinceMs ?? nowMs
    return nowMs - calmSinceMs >= CALM_MS
      ? { say: 'recovery', next: null }
      : { say: 'nothing', next: { ...incident, calmSinceMs } }
  }
  const { failures, mildSinceMs } = incident
  const begins = failure && mildSinceMs !== null && (failures === 0 || nowMs - mildSinceMs >= CALM_MS)
  const going: Incident = {
    ...incident,
    calmSinceMs: null,
    failures: failures + (begins ? 1 : 0),
    mildSinceMs: failure ? null : (mildSinceMs ?? nowMs),
  }
  const gapMs = GAPS_MS[Math.min(incident.alerts, GAPS_MS.length) - 1]!
  if (nowMs >= incident.lastAlertMs + gapMs)
    return { say: 'alert', next: { ...going, alerts: incident.alerts + 1, lastAlertMs: nowMs } }
  // A failure that joins mere warnings is told at once; the schedule goes on as it was.
  return { say: begins ? 'alert' : 'nothing', next: going }
}

/**
 * Decides when the owner is alerted. The watch runs in two services, so that it survives the failure of one; they share
 * the state of alerts through the kv. It needs neither the database nor the bus. Without the kv each watcher uses its
 * own memory: a duplicate alert is better than none.
 */
import { machineNow } from '#shared/runtime/clock.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { createLineClient } from '#shared/service/line/line-client.ts'
import { repeated } from '#shared/stores/repeated-work.ts'
import { type Cause, createChecks, createServiceCheck, CLOCK_MS } from './health-checks.ts'
import { createMessenger } from './send-alert.ts'
import { createNotices } from './quota-and-certificate-notices.ts'

export const LOOK_EVERY_MS = 15_000
const LOCK = 'alert-watch'
/** Longer than a check takes when every dependency is down. */
const LOCK_MS = 30_000

/** @param systemNow the clock of this machine, which is compared with the kv's clock */
export function createAlertWatch(given: ServiceContext, systemNow: () => number = machineNow) {
  let aheadMs = 0
  // All watchers use the time of the kv, as far as it is known.
  const now = (): number => given.now() - (Math.abs(aheadMs) > CLOCK_MS ? aheadMs : 0)
  const context: ServiceContext = { ...given, now }
  const { config, kv, log } = context
  const line = createLineClient(config.line)
  const messenger = createMessenger(context, line)
  const checks = createChecks(context)
  const checkServices = createServiceCheck(context)
  const notices = createNotices(context, line, messenger)
  const incidents = createIncidentStore(context)

  const consider = async (causes: readonly Cause[]): Promise<void> => {
    const incident = await incidents.recall()
    const { say, next } = decide(incident, causes, now(), crypto.randomUUID())
    if (say !== 'nothing') {
      // An attempt without an answer may have reached the owner, so the next check repeats it under the same key.
      if (incident === null && next !== null) await incidents.remember({ ...next, alerts: 0 })
      const about = incident ?? next!
      const delivered = await messenger.tell(nameOf(about, next), textOf(say, causes, about, now()))
      // Unless the alert was sent, its state is not stored, and the next check retries it.
      if (!delivered) return
    }
    if (JSON.stringify(next) !== JSON.stringify(incident)) await incidents.remember(next)
  }

  const look = async (): Promise<void> => {
    aheadMs = await kv.clock().then(
      (kvMs) => systemNow() - kvMs,
      () => aheadMs,
    )
    const [found, gone] = await Promise.all([checks(), checkServices()])
    const causes = gone === null ? found : [...found, gone]
    const lock = await kv.lock(LOCK, LOCK_MS).catch(() => '')
    if (lock === null) return
    try {
      await consider(causes)
      await notices()
    } finally {
      if (lock !== '') await kv.unlock(LOCK, lock).catch(() => undefined)
    }
    await messenger.catchUp()
  }

  const looking = repeated(log, 'the health check failed', LOOK_EVERY_MS, look)
  return {
    look,
    start: () => looking.start(false),
    stop: looking.stop,
  }
}

/** Deduplication key of an alert: the same for every watcher, and unique within the incident. */
const nameOf = ({ id }: Incident, next: Incident | null): string =>
  `${id}:${next === null ? 'recovery' : `${next.alerts}-${next.failures}`}`

function textOf(
  say: 'alert' | 'recovery',
  causes: readonly Cause[],
  { openedMs }: Incident,
  nowMs: number,
): string {
  const minutes = Math.round((nowMs - openedMs) / 60_000)
  if (say === 'recovery') return `✅ 恢復正常 · All is well again, after ${minutes} min`
  const since = minutes === 0 ? '' : `\n已持續 ${minutes} 分鐘 · For ${minutes} min`
  return `⚠️ ${causes.map(({ text }) => text).join('\n⚠️ ')}${since}`
}

/** Minutes between consecutive alerts; the last interval repeats. */
export const GAPS_MS = [10, 30, 60, 120, 240].map((minutes) => minutes * 60_000)
/** Causes that recur within this time belong to the same incident. */
const CALM_MS = 60_000

/** An incident; all concurrent causes share one incident and one schedule. */
export interface Incident {
  readonly id: string
  readonly openedMs: number
  /** Number of scheduled alerts so far; 0 while the first is not confirmed. */
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
  // A future time, stored by a clock that ran ahead, would silence the alerts until then.
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
  const gapMs = GAPS_MS[Math.min(incident.alerts, GAPS_MS.length) - 1] ?? 0
  if (nowMs >= going.lastAlertMs + gapMs)
    return { say: 'alert', next: { ...going, alerts: incident.alerts + 1, lastAlertMs: nowMs } }
  // A failure during an incident of warnings is alerted immediately; the schedule is unchanged.
  return { say: begins ? 'alert' : 'nothing', next: going }
}

// The state of the current incident: in the kv, shared by all watchers, and in this watcher's memory.

const STATE_KEY = 'alert-state'
const STATE_MS = 30 * 86_400_000

interface State {
  readonly incident: Incident | null
  readonly atMs: number
}

export function createIncidentStore({ kv, now }: Pick<ServiceContext, 'kv' | 'now'>) {
  let memory: State = { incident: null, atMs: -Infinity }
  return {
    /** The newer of the states in the kv and in memory. */
    async recall(): Promise<Incident | null> {
      // Without the kv nothing is known: one alert too many is better than none.
      const shared = await kv
        .cached(STATE_KEY)
        .then((stored) => (stored === null ? null : (JSON.parse(stored) as State)))
        .catch(() => null)
      // Cached, because the kv may lose it, and this watcher's own last state may be hours old. A future time from
      // another's clock would outrank all later states.
      if (shared !== null && shared.atMs >= memory.atMs)
        memory = { ...shared, atMs: Math.min(shared.atMs, now()) }
      return memory.incident
    },
    async remember(incident: Incident | null): Promise<void> {
      memory = { incident, atMs: now() }
      await kv.cache(STATE_KEY, JSON.stringify(memory), STATE_MS).catch(() => undefined)
    },
  }
}

/**
 * The watcher of the service itself. It runs in two services, so that it survives the failure of one; they share the
 * state of alerts through the kv. It needs neither the database nor the bus. Without the kv each watcher uses its own
 * memory: a duplicate alert is better than none.
 */
import type { ServiceContext } from '#shared/service/context.ts'
import { createLineClient } from '#shared/service/line/line-client.ts'
import { repeated } from '#shared/stores/repeated-work.ts'
import { createChecks, CLOCK_MS } from './health-checks.ts'
import { type Cause, decide, type Incident } from './alert-decision.ts'
import { createMessenger } from './messenger.ts'
import { createNotices } from './notices.ts'
import { createIncidentStore } from './incident-store.ts'

export const LOOK_EVERY_MS = 15_000
const LOCK = 'alert-watch'
/** Longer than a check takes when every dependency is down. */
const LOCK_MS = 30_000

/** @param machineNow the clock of this machine, which is compared with that of the kv */
export function createAlertWatch(given: ServiceContext, machineNow: () => number = Date.now) {
  let aheadMs = 0
  // All watchers share the time of the kv, as far as it is known.
  const now = (): number => given.now() - (Math.abs(aheadMs) > CLOCK_MS ? aheadMs : 0)
  const context: ServiceContext = { ...given, now }
  const { config, kv, log } = context
  const line = createLineClient(config.line)
  const messenger = createMessenger(context, line)
  const checks = createChecks(context)
  const notices = createNotices(context, line, messenger)
  const incidents = createIncidentStore(context)

  const consider = async (causes: readonly Cause[]): Promise<void> => {
    const incident = await incidents.recall()
    const { say, next } = decide(incident, causes, now(), crypto.randomUUID())
    if (say !== 'nothing') {
      const about = incident ?? next!
      const delivered = await messenger.tell(nameOf(about, next), textOf(say, causes, about, now()))
      // The state is not stored unless the alert was sent, so the next check retries it.
      if (!delivered) return
    }
    if (JSON.stringify(next) !== JSON.stringify(incident)) await incidents.remember(next)
  }

  const look = async (): Promise<void> => {
    aheadMs = await kv.clock().then(
      (kvMs) => machineNow() - kvMs,
      () => aheadMs,
    )
    const causes = await checks()
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

/** Notifies the owner once a month at 80 % of the message quota, and once at 95 %. */
import type { ServiceContext } from '#shared/service/context.ts'
import type { Line } from '#shared/service/line/line-client.ts'
import { errorFields } from '#shared/runtime/log.ts'
import type { Messenger } from './messenger.ts'

export const THRESHOLDS = [95, 80]
const LOOK_EVERY_MS = 300_000
const MONTH_MS = 35 * 86_400_000
/** LINE's months follow Japan Standard Time. */
const JAPAN_MS = 9 * 3_600_000

/** Checks the quota at most every five minutes. */
export function createQuotaNotice(
  { kv, now, log }: ServiceContext,
  line: Line,
  messenger: Messenger,
): () => Promise<void> {
  const me = crypto.randomUUID()
  const notified = new Set<string>()
  let lookedMs = -Infinity

  /** Whether this watcher sends the notice; without the kv each watcher sends it. */
  const claim = async (key: string): Promise<boolean> =>
    !notified.has(key) && (await kv.cacheOnce(key, me, MONTH_MS).catch(() => me)) === me

  const notify = async (percent: number, used: number, limit: number): Promise<void> => {
    const month = new Date(now() + JAPAN_MS).toISOString().slice(0, 7)
    const [highest, ...lower] = THRESHOLDS.filter((threshold) => percent >= threshold)
    if (highest === undefined) return
    const keyOf = (threshold: number) => `quota-notice:${month}:${threshold}`
    const key = keyOf(highest)
    if (!(await claim(key))) return
    const text = `本月訊息已使用 ${Math.floor(percent)} % · ${used} of ${limit} messages of this month are used`
    if (await messenger.tell(key, text)) {
      for (const threshold of [highest, ...lower]) {
        notified.add(keyOf(threshold))
        await kv.cacheOnce(keyOf(threshold), me, MONTH_MS).catch(() => undefined)
      }
    } else await kv.forget(key).catch(() => undefined)
  }

  return async () => {
    if (now() - lookedMs < LOOK_EVERY_MS) return
    lookedMs = now()
    try {
      const { limit, used } = await line.quota()
      if (limit !== null && limit > 0) await notify((used / limit) * 100, used, limit)
    } catch (error) {
      log.warn('the message quota cannot be read', errorFields(error))
    }
  }
}

/** Messages to the owner that are not incidents, which would stay open for weeks: the quota, and certificates. */
import type { ServiceContext } from '#shared/service/context.ts'
import type { Line } from '#shared/service/line/line-client.ts'
import { never } from '#shared/runtime/clock.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { knownCertificates } from './certificates.ts'
import type { Messenger } from './send-alert.ts'

export const THRESHOLDS = [95, 80]
const LOOK_EVERY_MS = 300_000
const DAY_MS = 86_400_000
const MONTH_MS = 35 * DAY_MS
/** Longer than a call takes. A watcher that dies in the call leaves the notice to another. */
const CALL_MS = 60_000
/** LINE's months follow Japan Standard Time. */
const JAPAN_MS = 9 * 3_600_000

/** Sends a notice once, by the first watcher that finds it; without the kv each watcher sends it. */
function createTeller({ kv }: ServiceContext, messenger: Messenger) {
  const me = crypto.randomUUID()
  const notified = new Set<string>()
  /** @param others keys of notices that this one makes unnecessary */
  return async (key: string, text: string, others: readonly string[] = []): Promise<void> => {
    if (notified.has(key) || (await kv.cacheOnce(key, me, CALL_MS).catch(() => me)) !== me) return
    if (!(await messenger.tell(key, text))) return kv.forget(key).catch(() => undefined)
    for (const each of [key, ...others]) {
      notified.add(each)
      await kv.cache(each, me, MONTH_MS).catch(() => undefined)
    }
  }
}

/**
 * Checks, at most every five minutes, for notices: once a month at 80 % of the message quota and once at 95 %, and once
 * a day for certificates that are not renewed.
 */
export function createNotices(
  context: ServiceContext,
  line: Line | null,
  messenger: Messenger,
): () => Promise<void> {
  const { config, kv, now, stopwatch, log } = context
  const tell = createTeller(context, messenger)
  let sinceLook = never

  const quota = async (line: Line): Promise<void> => {
    const { limit, used } = await line.quota()
    if (limit === null || limit <= 0) return
    const percent = (used / limit) * 100
    const month = new Date(now() + JAPAN_MS).toISOString().slice(0, 7)
    const [highest, ...lower] = THRESHOLDS.filter((threshold) => percent >= threshold).map(
      (threshold) => `quota-notice:${month}:${threshold}`,
    )
    if (highest === undefined) return
    const text = `本月訊息已使用 ${Math.floor(percent)} % · ${used} of ${limit} messages of this month are used`
    await tell(highest, text, lower)
  }

  const certificates = async (): Promise<void> => {
    const known = Object.entries(await knownCertificates(kv, config))
    const due = known.flatMap(([host, certificate]) =>
      certificate !== null && certificate.dueMs <= now() ? [{ host, ...certificate }] : [],
    )
    if (due.length === 0) return
    const lines = due.map(({ host, expiresMs }) => {
      const ends = `${new Date(expiresMs).toISOString().slice(0, 16)}Z`
      return `憑證未更新：${host}，到期 ${ends} · The certificate of ${host} is not renewed; it ends ${ends}`
    })
    await tell(`certificate-notice:${Math.floor(now() / DAY_MS)}`, lines.join('\n'))
  }

  return async () => {
    if (sinceLook() < LOOK_EVERY_MS) return
    sinceLook = stopwatch()
    try {
      if (line !== null) await quota(line)
    } catch (error) {
      log.warn('the message quota cannot be read', errorFields(error))
    }
    try {
      await certificates()
    } catch (error) {
      log.warn('the certificates cannot be looked at', errorFields(error))
    }
  }
}

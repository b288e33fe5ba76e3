/** Health checks. Each is independent of the dependencies of the others, and each has a timeout. */
import { count, gt, max, sum } from 'drizzle-orm'
import type { ServiceContext } from '#shared/service/context.ts'
import { readLastFlush } from '#shared/points/last-flush.ts'
import { deadLetters } from '#shared/stores/schema/points.ts'
import { ledgerLosses } from '#shared/stores/schema/ledger.ts'
import { withCheckTimeout } from './check-timeout.ts'
import { checkClocks } from './clock-check.ts'
import { createDiskCheck, freeBytesOf } from './disk-check.ts'
import type { Cause } from './incident.ts'

/** Specification, "Limits": stale-flush alert threshold. */
export const STALE_MS = 30 * 60_000
/** How long an irreversible problem is reported. */
const TOLD_FOR_MS = 86_400_000
/** How long a loss is a failure, which is alerted immediately even during another incident. */
const NEWS_MS = 120_000
const FIRST_START_KEY = 'first-start'
const FOR_EVER_MS = 10 * 365 * 86_400_000

/** Returns the current causes of trouble. */
export function createChecks(context: ServiceContext): () => Promise<Cause[]> {
  const { kv, db, now } = context
  const startedMs = now()
  // The last known figures stay available while their stores are down.
  let flushedMs: number | null = null

  const flush = async (): Promise<Cause | null> => {
    const read = await withCheckTimeout(readLastFlush(db, kv)).catch(() => null)
    flushedMs = Math.max(read ?? 0, flushedMs ?? 0) || null
    const sinceMs =
      flushedMs ??
      Number(
        await withCheckTimeout(kv.cacheOnce(FIRST_START_KEY, String(startedMs), FOR_EVER_MS)).catch(
          () => startedMs,
        ),
      )
    const minutes = Math.floor((now() - sinceMs) / 60_000)
    if (now() - sinceMs <= STALE_MS) return null
    const text = `資料已 ${minutes} 分鐘沒有寫入資料庫 · No successful flush for ${minutes} min`
    return { key: 'flush', failure: true, text }
  }

  let wasDown = false
  const database = async (): Promise<Cause | null> => {
    // A database that is only busy answers the second probe.
    const answers = (await answersProbe(context)) || (!wasDown && (await answersProbe(context)))
    wasDown = !answers
    if (answers) return null
    return { key: 'database', failure: true, text: '資料庫沒有回應 · The database does not answer' }
  }

  const disk = createDiskCheck(() => freeBytesOf(context.config.dataDir), context.metrics)

  return async () => {
    const down = await database()
    const others = [flush(), disk(), checkClocks(context), checkSlots(context)]
    if (down === null) others.push(countDeadLetters(context), countLost(context))
    return [down, ...(await Promise.all(others))].filter((cause) => cause !== null)
  }
}

const answersProbe = ({ db }: ServiceContext): Promise<boolean> =>
  withCheckTimeout(db.probe()).then(
    () => true,
    () => false,
  )

/** Slots of a Redis Cluster that move, or did not arrive. */
async function checkSlots({ kv }: ServiceContext): Promise<Cause | null> {
  const slots = await withCheckTimeout(kv.movingSlots()).catch(() => 0)
  if (slots === 0) return null
  const text = `Redis Cluster 的 slot 正在搬移，定位可能遺失 · Slots of the Redis Cluster are moving: points can be lost`
  return { key: 'slots', failure: true, text }
}

/** Points that the database refused in the last day. */
async function countDeadLetters({ db, now }: ServiceContext): Promise<Cause | null> {
  const since = new Date(now() - TOLD_FOR_MS)
  const query = db.orm.select({ count: count() }).from(deadLetters).where(gt(deadLetters.createdAt, since))
  const [row] = await withCheckTimeout(query.execute()).catch(() => [])
  if (row === undefined || row.count === 0) return null
  const text = `有 ${row.count} 筆定位無法寫入 · ${row.count} points could not be stored`
  return { key: 'dead-letters', failure: false, text }
}

/** Points that were found to be lost in the last day. */
async function countLost({ db, now }: ServiceContext): Promise<Cause | null> {
  const since = new Date(now() - TOLD_FOR_MS)
  const query = db.orm
    .select({ lost: sum(ledgerLosses.points), at: max(ledgerLosses.at) })
    .from(ledgerLosses)
    .where(gt(ledgerLosses.at, since))
  const [row] = await withCheckTimeout(query.execute()).catch(() => [])
  const lost = Number(row?.lost ?? 0)
  if (lost <= 0) return null
  return {
    key: 'lost',
    // After that it is a warning for the rest of the day, so that a new failure still causes its own alert.
    failure: now() - row!.at!.getTime() < NEWS_MS,
    text: `遺失了 ${lost} 筆定位 · ${lost} points are lost: see admin/ledger`,
  }
}

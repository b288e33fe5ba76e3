/** Maintenance beside the flush: records losses, and deletes expired records and unreferenced screenshots. */
import type { ServiceContext } from '#shared/service/context.ts'
import type { Database, Tx } from '#shared/stores/db/db.ts'
import { createLossWatch, readLedger, statesOf } from '#shared/points/ledger/ledger.ts'
import { DEDUPLICATION_WINDOW_MS } from '#shared/service/line/line-client.ts'
import { eachApart, type Reporting, repeated } from '#shared/stores/repeated-work.ts'
import { mendKvCopies } from '#shared/pilgrims/kv-copies.ts'
import type { Objects } from '#shared/stores/objects/objects.ts'
import { SCREENSHOTS } from '#shared/stores/objects/pictures.ts'
import { lockScreenshot } from '#shared/pilgrims/hold-screenshot.ts'

const LOSSES_EVERY_MS = 15_000
const COMPARE_EVERY_MS = 60_000
const DELETE_EVERY_MS = 3_600_000
const RETENTION_MS = 30 * 86_400_000

/**
 * Deletes records of flushes, webhook events and domain events that are a month old. The last success of each partition
 * stays. Unhandled domain events are deleted too: after a week they are no longer retried, and they may contain what a
 * pilgrim wrote to the bot. Expired links are deleted; a link's period of showing a position is cleared once it is
 * over.
 */
export async function deleteExpired(
  { sql }: Pick<Database, 'sql'>,
  nowMs: number,
  reporting: Reporting,
): Promise<void> {
  const before = (ms: number) => new Date(nowMs - ms).toISOString()
  const statements = [
    () => sql`
    DELETE FROM flushes f WHERE finished_at < ${before(RETENTION_MS)}::timestamptz AND EXISTS (
      SELECT FROM flushes later
      WHERE later.partition = f.partition AND later.succeeded AND later.id > f.id)`,
    () => sql`DELETE FROM line_events WHERE received_at < ${before(DEDUPLICATION_WINDOW_MS)}::timestamptz`,
    () =>
      sql`DELETE FROM refused_line_events WHERE refused_at < ${before(DEDUPLICATION_WINDOW_MS)}::timestamptz`,
    () => sql`DELETE FROM shares WHERE expires_at <= ${before(0)}::timestamptz`,
    () =>
      sql`UPDATE shares SET live_until = NULL, live_since = NULL WHERE live_until <= ${before(0)}::timestamptz`,
    () => sql`DELETE FROM outbox WHERE created_at < ${before(RETENTION_MS)}::timestamptz`,
    () => sql`
    DELETE FROM handled h WHERE handled_at < ${before(RETENTION_MS)}::timestamptz
      AND NOT EXISTS (SELECT FROM outbox o WHERE o.id = h.event_id)`,
  ]
  await eachApart(reporting, 'expired records', statements, async (remove) => remove())
}

/**
 * The time by which records and backups are deleted, epoch milliseconds: the earliest of the clocks of this process, the
 * kv and Postgres, so that one clock that is ahead deletes nothing.
 * @throws KvUnavailable; when the database is unavailable
 */
export async function earliestClock({ db, kv, now }: ServiceContext): Promise<number> {
  const [[row], kvMs] = await Promise.all([
    db.sql<[{ ms: number }]>`SELECT epoch_ms(now()) AS ms`,
    kv.clock(),
  ])
  return Math.min(now(), row.ms, kvMs)
}

export function createMaintenance(context: ServiceContext) {
  const { db, kv, objects, log, metrics } = context
  metrics.figures('event_ledger_points', async () => statesOf(await readLedger(db, kv)))
  const checkLosses = createLossWatch(context)
  const mend = async () => {
    const differing = await mendKvCopies(context)
    if (differing === 0) return
    metrics.count('event_kv_copies_mended_total', {}, differing)
    log.warn('copies in the kv differed from Postgres, and were mended', { people: differing })
  }
  const every = (ms: number, work: () => Promise<unknown>) =>
    repeated(log, 'the maintenance failed', ms, work)
  const compare = [every(LOSSES_EVERY_MS, checkLosses), every(COMPARE_EVERY_MS, mend)]
  const expire = [
    every(DELETE_EVERY_MS, async () => deleteExpired(db, await earliestClock(context), context)),
    every(DELETE_EVERY_MS, async () =>
      deleteUnnamedScreenshots(db, objects, await earliestClock(context), context),
    ),
  ]
  return {
    start() {
      for (const task of expire) task.start()
      for (const task of compare) task.start(false)
    },
    stop: () => Promise.all([...expire, ...compare].map((task) => task.stop())),
  }
}

// Deletes screenshots that neither feedback nor a message refers to. A screenshot is uploaded before the feedback that
// refers to it, so it has a week.

export const UNNAMED_MS = 7 * 86_400_000
/** Screenshots looked up at a time. */
const PAGE = 500

const QUEUE = 'unnamed screenshots'

const fileOf = (key: string): string => key.slice(SCREENSHOTS.length)

/** Unreferenced keys. A URL in feedback refers to one picture, at its end. */
async function unnamed(tx: Tx, keys: readonly string[]): Promise<readonly string[]> {
  if (keys.length === 0) return keys
  const rows = await tx.sql<{ file: string }[]>`
    SELECT files.file FROM unnest(${keys.map(fileOf)}::text[]) AS files (file)
    WHERE files.file IN (
      SELECT right(screenshot_url, 36) FROM feedback WHERE screenshot_url LIKE '%/api/event/feedback-image/%'
      UNION ALL
      SELECT found.match[1] FROM message_chunks
      CROSS JOIN LATERAL regexp_matches(body::text, 'feedback-image/([0-9a-f]{32}\\.png)', 'g') AS found (match)
      WHERE body::text LIKE '%feedback-image/%')`
  const named = new Set(rows.map(({ file }) => file))
  return keys.filter((key) => !named.has(fileOf(key)))
}

/**
 * Deletes unreferenced screenshots older than `UNNAMED_MS`.
 * @returns number of deleted screenshots
 */
export async function deleteUnnamedScreenshots(
  db: Pick<Database, 'sql' | 'orm' | 'transaction'>,
  objects: Objects,
  nowMs: number,
  reporting: Reporting,
): Promise<number> {
  let deleted = 0
  // The texts are read twice per page of pictures, however many of these are unreferenced.
  const look = async (keys: readonly string[]): Promise<void> => {
    const old: string[] = []
    await eachApart(reporting, QUEUE, await unnamed(db, keys), async (key) => {
      const found = await objects.head(key)
      if (found !== null && nowMs - found.modifiedAt.getTime() >= UNNAMED_MS) old.push(key)
    })
    if (old.length === 0) return
    await db.transaction(async (tx) => {
      for (const key of old) await lockScreenshot(tx, key)
      // A reference may have been added meanwhile.
      await eachApart(reporting, QUEUE, await unnamed(tx, old), async (key) => {
        await objects.delete(key)
        deleted++
      })
    })
  }
  let page: string[] = []
  for await (const key of objects.list(SCREENSHOTS)) {
    page.push(key)
    if (page.length === PAGE) await look(page.splice(0))
  }
  await look(page)
  return deleted
}

/** The activity status. Its row in Postgres is authoritative; each partition of the kv holds a copy. */
import { eq } from 'drizzle-orm'
import { BuiltInLanguage } from '#shared/contracts/bot.ts'
import { ActivityStatus } from '#shared/contracts/fields.ts'
import type { Database, Tx } from '#shared/stores/db/db.ts'
import type { VersionedStatus, KvStatus } from '#shared/stores/kv/kv.ts'
import { activity, ending } from '#shared/stores/schema/tables.ts'
import { LoggableError } from '#shared/runtime/log.ts'
import { Ending, type StatusMessages } from '#shared/contracts/operations.ts'
import { textFor } from '#shared/core/rules/languages.ts'
import { within } from '#shared/runtime/deadline.ts'

/** Id of the table's single row. */
export const ACTIVITY_ID = 1

export async function readStatus(db: Database): Promise<VersionedStatus> {
  const [row] = await db.read(() => db.orm.select().from(activity).where(eq(activity.id, ACTIVITY_ID)))
  if (row === undefined)
    throw new LoggableError('the table of the activity is empty: the database is not migrated')
  return { status: ActivityStatus.parse(row.status), version: row.version, message: row.message }
}

/** The status from the kv, or from the database if the kv does not have it. */
export const readStatusCopy = async ({
  db,
  kv,
}: {
  readonly db: Database
  readonly kv: KvStatus
}): Promise<VersionedStatus> => (await kv.status().catch(() => null)) ?? readStatus(db)

type Row = typeof activity.$inferSelect

/** The message in each language that has one; null where it has one text alone. */
export const messagesOf = ({ message, messages }: Pick<Row, 'message' | 'messages'>): StatusMessages | null =>
  messages !== null && Object.values(messages).some((text) => text === message) ? messages : null

const MESSAGES_TIMEOUT_MS = 1_000

interface Shown {
  readonly version: number
  readonly messages: StatusMessages | null
}
const shown = new WeakMap<Database, Shown>()

/**
 * The message of a status for readers of each language. The kv has the one text alone, so that it admits points with
 * one key; the others are read from the database once per change.
 * @returns null: the one text is for all, or the database does not answer
 */
export async function readMessages(
  db: Database,
  { version, message }: VersionedStatus,
): Promise<StatusMessages | null> {
  if (message === null) return null
  const known = shown.get(db)
  if (known?.version === version) return known.messages
  const reading = db.read(() => db.orm.select().from(activity).where(eq(activity.id, ACTIVITY_ID)))
  const [row] = await within(
    reading.catch(() => []),
    MESSAGES_TIMEOUT_MS,
    () => [],
  )
  if (row?.version !== version) return null
  const texts = messagesOf(row)
  const messages =
    texts &&
    Object.fromEntries(
      [...BuiltInLanguage.options, ...Object.keys(texts)].map((reader) => [
        reader,
        textFor(texts, reader) ?? message,
      ]),
    )
  shown.set(db, { version, messages })
  return messages
}

/** Id of the table's single row. */
const ENDING_ID = 1
const POLL_MS = 250

/** Records that the event has ended; existing progress stays. */
export async function recordEnd(tx: Tx, endedAt: Date): Promise<void> {
  await tx.orm.insert(ending).values({ id: ENDING_ID, endedAt }).onConflictDoNothing()
}

export async function recordFinalFlush(tx: Tx, flushedAt: Date): Promise<void> {
  await tx.orm.update(ending).set({ flushedAt }).where(eq(ending.id, ENDING_ID))
}

export async function recordCards(tx: Tx, { done, total }: { done: number; total: number }): Promise<void> {
  await tx.orm.update(ending).set({ cardsDone: done, cardsTotal: total }).where(eq(ending.id, ENDING_ID))
}

/** Records the state of the final summary. `skipped`: LINE is not configured. */
export async function recordSummary(tx: Tx, summary: 'sending' | 'sent' | 'skipped'): Promise<void> {
  await tx.orm.update(ending).set({ summary }).where(eq(ending.id, ENDING_ID))
}

/** Reads the progress; null until the event has ended. */
export async function readEndProgress(tx: Tx): Promise<Ending | null> {
  const [row] = await tx.orm.select().from(ending).where(eq(ending.id, ENDING_ID))
  if (row === undefined) return null
  return Ending.parse({
    flush: row.flushedAt === null ? 'running' : 'done',
    cards: { done: row.cardsDone, total: row.cardsTotal },
    summary: row.summary,
  })
}

/**
 * Waits for the final flush, at most `timeoutMs`.
 * @returns true when the flush is done or the event has not ended; false on timeout or when the service stops
 */
export async function waitForFinalFlush(
  db: Database,
  timeoutMs: number,
  stopping: AbortSignal,
): Promise<boolean> {
  const until = performance.now() + timeoutMs
  for (;;) {
    if ((await db.read(() => readEndProgress(db)))?.flush !== 'running') return true
    if (stopping.aborted || performance.now() >= until) return false
    await Bun.sleep(POLL_MS)
  }
}

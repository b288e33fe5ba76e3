/** The database's part of an erasure: the person's own rows, and their id in others' rows. */
import { and, eq, sql } from 'drizzle-orm'
import type { ErasurePart } from '#shared/contracts/erasure.ts'
import type { Answers } from '#shared/contracts/survey.ts'
import { userHash } from '#shared/stores/kv/kv.ts'
import { isLineUserId } from '#shared/service/line/line-client.ts'
import { screenshotKey } from '#shared/stores/objects/pictures.ts'
import type { Writer } from '#shared/stores/bus/outbox.ts'
import { lockPerson, lockRecipients } from '#shared/pilgrims/person-lock.ts'
import { addErasedReportTotals } from '#shared/pilgrims/report-totals.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import {
  PERSONAL_TABLES,
  type PersonalTable,
  pilgrims,
  REPORTS,
  surveys,
  trackers,
} from '#shared/stores/schema/tables.ts'
import { countSurvey } from '#shared/pilgrims/survey-counts.ts'
import { storeAnonymousTotals } from './anonymous-totals.ts'

/** Parts that remain after the rows have been deleted. */
export const OUTSIDE: readonly ErasurePart[] = ['buffer', 'objects']

export interface ErasedRows {
  readonly rows: Record<PersonalTable, number>
  /** Number of rows of others that contained the person's id. */
  readonly mentions: number
  /** Whether the event's totals include the person. */
  readonly walked: boolean
  /** Keys of screenshots to delete with their feedback. */
  readonly screenshots: string[]
  /** Hashes of the keys of their trackers. */
  readonly trackers: string[]
}

/** Locks out every writer of the person's data: other erasures, the planning of messages, the flush. */
export async function lockOutWriters(tx: Writer, userId: string): Promise<void> {
  await lockPerson(tx, userId)
  await lockRecipients(tx)
  await tx.execute(sql`INSERT INTO pilgrim_totals (user_id) VALUES (${userId}) ON CONFLICT DO NOTHING`)
  await tx.execute(sql`SELECT FROM pilgrim_totals WHERE user_id = ${userId} FOR UPDATE`)
}

/** Deletes a person's rows and stores their sums anonymously. The transaction must hold `lockOutWriters`. */
export async function eraseRows(
  tx: Writer,
  userId: string,
  { calendar, config }: Pick<ServiceContext, 'calendar' | 'config'>,
): Promise<ErasedRows> {
  const walked =
    (await storeAnonymousTotals(tx, userId, calendar, config.mapCrowd)) || (await hasReported(tx, userId))
  const screenshots = await ownScreenshots(tx, userId)
  const keys = await readTrackerKeys(tx, userId)
  const rows = await emptyTables(tx, userId)
  return { rows, walked, screenshots, trackers: keys, mentions: await forgetMentions(tx, userId) }
}

/** Hashes of the keys of a person's trackers. */
export async function readTrackerKeys(tx: Writer, userId: string): Promise<string[]> {
  const rows = await tx.select({ hash: trackers.keyHash }).from(trackers).where(eq(trackers.userId, userId))
  return rows.map(({ hash }) => hash)
}

/** Whether the pilgrim's reports are part of the event's totals. */
async function hasReported(tx: Writer, userId: string): Promise<boolean> {
  const mine = tx.select({ id: pilgrims.userId }).from(pilgrims)
  return (await mine.where(and(eq(pilgrims.userId, userId), sql.raw(REPORTS)))).length > 0
}

/**
 * Keys of the person's screenshots. A screenshot belongs to the feedback that named it first, because only the person
 * who uploaded it knew its name then. Feedback that names it later does not own it.
 */
async function ownScreenshots(tx: Writer, userId: string): Promise<string[]> {
  const rows = await tx.execute<{ url: string }>(sql`
    SELECT f.screenshot_url AS url FROM feedback f
    WHERE f.user_id = ${userId} AND f.screenshot_url IS NOT NULL AND NOT EXISTS (
      SELECT FROM feedback o WHERE right(o.screenshot_url, 36) = right(f.screenshot_url, 36)
        AND o.id < f.id AND o.user_id IS DISTINCT FROM f.user_id)`)
  const keys = rows.map(({ url }) => screenshotKey(url.slice(url.lastIndexOf('/') + 1)))
  return [...new Set(keys.filter((key) => key !== null))]
}

async function emptyTables(tx: Writer, userId: string): Promise<Record<PersonalTable, number>> {
  const rows = {} as Record<PersonalTable, number>
  for (const table of PERSONAL_TABLES) {
    if (table === 'pilgrims' || table === 'surveys') {
      rows[table] = await deleteCounted[table](tx, userId)
      continue
    }
    // A row that only serves as the lock is not counted.
    const own = table === 'pilgrim_totals' ? sql`WHERE points > 0` : sql``
    const [counted] = await tx.execute<{ n: number }>(sql`
      WITH gone AS (DELETE FROM ${sql.identifier(table)} WHERE user_id = ${userId} RETURNING *)
      SELECT count(*)::int AS n FROM gone ${own}`)
    rows[table] = counted!.n
  }
  return rows
}

/** Deletes from tables that have totals. Reported amounts stay in the totals anonymously; a survey leaves them. */
const deleteCounted = {
  async pilgrims(tx: Writer, userId: string): Promise<number> {
    const gone = await tx.delete(pilgrims).where(eq(pilgrims.userId, userId)).returning()
    for (const pilgrim of gone) await addErasedReportTotals(tx, pilgrim)
    return gone.length
  },
  async surveys(tx: Writer, userId: string): Promise<number> {
    const gone = await tx.delete(surveys).where(eq(surveys.userId, userId)).returning()
    // Not parsed, because answers that the contract no longer accepts are erased as well.
    for (const { answers } of gone) await countSurvey(tx, answers as Answers, null)
    return gone.length
  },
}

/**
 * Removes the person's id from others' rows: the audit log and the messages stay, without the person.
 * @returns number of rows that contained it
 */
async function forgetMentions(tx: Writer, userId: string): Promise<number> {
  const hash = userHash(userId)
  const changes = [
    sql`UPDATE audit_log SET details = jsonb_set(details, '{user_id}', to_jsonb(${hash}::text))
      WHERE details->>'user_id' = ${userId}`,
    sql`UPDATE message_chunks SET recipients = recipients - ${userId}::text WHERE recipients ? ${userId}::text`,
    sql`UPDATE messages SET audience = jsonb_set(audience, '{user_ids}', (audience->'user_ids') - ${userId}::text)
      WHERE audience->'user_ids' ? ${userId}::text`,
    // Their messages to the bot.
    sql`DELETE FROM outbox WHERE payload->'source'->>'userId' = ${userId}`,
  ]
  // Others may have mentioned them in a group. A LINE id has no other meaning in an event.
  if (isLineUserId(userId))
    changes.push(sql`
      UPDATE outbox SET payload = replace(payload::text, to_jsonb(${userId}::text)::text, to_jsonb(${hash}::text)::text)::jsonb
      WHERE position(to_jsonb(${userId}::text)::text IN payload::text) > 0`)
  let rows = 0
  for (const change of changes) {
    const [counted] = await tx.execute<{ n: number }>(sql`
      WITH changed AS (${change} RETURNING 1) SELECT count(*)::int AS n FROM changed`)
    rows += counted!.n
  }
  return rows
}

/** Erasing a pilgrim: rows, buffer, live map, caches and pictures go; what they added to the event's sums stays. */
import { and, eq, sql } from 'drizzle-orm'
import { audit } from '#shared/security/audit-log.ts'
import type { Operator } from '#shared/security/admin-auth.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { time } from '#shared/contracts/fields.ts'
import type { Erasure } from '#shared/contracts/reports.ts'
import { notFound } from '#shared/http/errors.ts'
import { userHash } from '#shared/kv/kv.ts'
import { countPoints, noteBooks } from '#shared/ledger/stored-counters.ts'
import { deletePictures } from '#shared/objects/pictures.ts'
import type { Writer } from '#shared/bus/outbox.ts'
import { photoCountKey } from '#shared/pilgrims/photo-count-cache.ts'
import { bookErased } from '#shared/pilgrims/report-totals.ts'
import { pilgrims, REPORTS, surveys } from '#shared/schema/profiles.ts'
import { StoredAnswers } from '#shared/contracts/survey.ts'
import { bookSurvey } from '#shared/pilgrims/survey-counts.ts'
import { erasures } from '#shared/schema/operations.ts'
import { PERSONAL_TABLES, type PersonalTable } from '#shared/schema/personal-data.ts'
import { keepOffsets } from './keep-anonymous-totals.ts'

/**
 * Erases one pilgrim and answers a receipt. Pictures go first and the buffer last, so that a call that fails in
 * between can be made again; points of before that still arrive are dropped by their generation.
 * @throws Refusal 404 for someone of whom nothing is known
 */
export async function eraseUser(
  context: ServiceContext,
  operator: Operator,
  userId: string,
  requestId: string,
): Promise<Erasure> {
  const { db, kv, objects, now } = context
  const erasedAt = new Date(now())
  const pictures = await deletePictures(db.sql, objects, userId)
  const waiting = (await kv.peek(userId)).length
  const { erased, generation } = await db.orm.transaction(async (tx) => {
    await lock(tx, userId)
    const walked = (await keepOffsets(tx, userId, context.calendar)) || (await hasReported(tx, userId))
    const rows = await emptyTables(tx, userId)
    if (Object.values(rows).every((count) => count === 0) && pictures + waiting === 0)
      throw notFound(`Nothing is known of a pilgrim with the id ${userId}.`)
    await forgetMentions(tx, userId)
    const hash = userHash(userId)
    const [row] = await tx
      .insert(erasures)
      .values({ userHash: hash, generation: 1, erasedAt, walked: Number(walked) })
      .onConflictDoUpdate({
        target: erasures.userHash,
        set: {
          generation: sql`${erasures.generation} + 1`,
          erasedAt,
          walked: sql`${erasures.walked} + ${Number(walked)}`,
        },
      })
      .returning({ generation: erasures.generation })
    await audit(tx, operator, 'erase-user', { user_hash: hash }, requestId, now())
    await countPoints(tx, 'points-erased', rows.gps_points)
    await countPoints(tx, 'letters-erased', rows.dead_letters)
    return { erased: rows, generation: row!.generation }
  })
  const pending = await kv.erase(userId, { generation, erasedMs: erasedAt.getTime() })
  await kv.forget(photoCountKey(userId))
  await noteBooks(db, kv)
  return { erased: { ...erased, pending, pictures }, erased_at: time(erasedAt.getTime()) }
}

/** Waits for a flush of the pilgrim's points that is under way, and keeps the next one waiting. */
async function lock(tx: Writer, userId: string): Promise<void> {
  await tx.execute(sql`INSERT INTO pilgrim_totals (user_id) VALUES (${userId}) ON CONFLICT DO NOTHING`)
  await tx.execute(sql`SELECT FROM pilgrim_totals WHERE user_id = ${userId} FOR UPDATE`)
}

/** Whether what the pilgrim reports adds to the event's sums. */
async function hasReported(tx: Writer, userId: string): Promise<boolean> {
  const mine = tx.select({ id: pilgrims.userId }).from(pilgrims)
  return (await mine.where(and(eq(pilgrims.userId, userId), sql.raw(REPORTS)))).length > 0
}

async function emptyTables(tx: Writer, userId: string): Promise<Record<PersonalTable, number>> {
  const rows = {} as Record<PersonalTable, number>
  for (const table of PERSONAL_TABLES) {
    if (table === 'pilgrims' || table === 'surveys') {
      rows[table] = await unbook[table](tx, userId)
      continue
    }
    // The lock's own row is not a row of the person.
    const own = table === 'pilgrim_totals' ? sql`WHERE points > 0` : sql``
    const [counted] = await tx.execute<{ n: number }>(sql`
      WITH gone AS (DELETE FROM ${sql.identifier(table)} WHERE user_id = ${userId} RETURNING *)
      SELECT count(*)::int AS n FROM gone ${own}`)
    rows[table] = counted!.n
  }
  return rows
}

/** Rows that sums are kept over: what was reported stays as nobody's; a survey is counted no more, as none is listed. */
const unbook = {
  async pilgrims(tx: Writer, userId: string): Promise<number> {
    const gone = await tx.delete(pilgrims).where(eq(pilgrims.userId, userId)).returning()
    for (const pilgrim of gone) await bookErased(tx, pilgrim)
    return gone.length
  },
  async surveys(tx: Writer, userId: string): Promise<number> {
    const gone = await tx.delete(surveys).where(eq(surveys.userId, userId)).returning()
    for (const { answers } of gone) await bookSurvey(tx, StoredAnswers.parse(answers), null)
    return gone.length
  },
}

/** Where others' rows name the pilgrim: the audit log and the ledger of messages keep what happened, not to whom. */
async function forgetMentions(tx: Writer, userId: string): Promise<void> {
  const hash = userHash(userId)
  await tx.execute(sql`
    UPDATE audit_log SET details = jsonb_set(details, '{user_id}', to_jsonb(${hash}::text))
    WHERE details->>'user_id' = ${userId}`)
  await tx.execute(sql`
    UPDATE message_chunks SET recipients = recipients - ${userId}::text WHERE recipients ? ${userId}::text`)
  await tx.execute(sql`
    UPDATE messages SET audience = jsonb_set(audience, '{user_ids}', (audience->'user_ids') - ${userId}::text)
    WHERE audience->'user_ids' ? ${userId}::text`)
  // What they have written to the bot.
  await tx.execute(sql`DELETE FROM outbox WHERE payload->'source'->>'userId' = ${userId}`)
}

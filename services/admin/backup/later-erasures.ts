/** People who were erased after a backup was made stay erased when it is restored. */
import { type Erased, userHash } from '#shared/kv/kv.ts'
import type { Query } from '#shared/db/db.ts'
import { cursorBatches } from '#shared/db/cursor-batches.ts'
import { PERSONAL_TABLES } from '#shared/schema/personal-data.ts'

/** Erasures that an installation has recorded; none when its database is empty. */
export async function readErasures(sql: Query): Promise<Erased[]> {
  const [there] = await sql`SELECT to_regclass('erasures') IS NOT NULL AS known`
  if (!there?.known) return []
  const rows = await sql<{ hash: string; generation: number; ms: number; stands: boolean }[]>`
    SELECT user_hash AS hash, generation, (extract(epoch FROM erased_at) * 1000)::float8 AS ms, stands FROM erasures`
  return rows.map(({ hash, generation, ms, stands }) => ({
    userHash: hash,
    generation,
    erasedMs: ms,
    stands,
  }))
}

/**
 * Merges the backup's erasures with those of the installation that are later, or after which the person has consented
 * anew.
 * @param madeMs when the backup was made, in epoch milliseconds
 */
export function mergeLaterErasures(
  inBackup: readonly Erased[],
  here: readonly Erased[],
  madeMs: number,
): { readonly all: Erased[]; readonly later: Erased[] } {
  const known = new Map(inBackup.map((one) => [one.userHash, one]))
  const later = here
    .filter(({ userHash: hash, erasedMs, stands }) => {
      const held = known.get(hash)
      if (held?.erasedMs === erasedMs) return held.stands === true && stands !== true
      return erasedMs > madeMs && erasedMs > (held?.erasedMs ?? 0)
    })
    .map((one) => ({
      ...one,
      generation: Math.max(one.generation, known.get(one.userHash)?.generation ?? 0),
    }))
  for (const one of later) known.set(one.userHash, one)
  return { all: [...known.values()], later }
}

/** Every column that contains user ids: in people's own rows, and in others'. */
const NAMED = [
  ...PERSONAL_TABLES.map((table) => `SELECT user_id FROM ${table}`),
  `SELECT details->>'user_id' FROM audit_log`,
  'SELECT jsonb_array_elements_text(recipients) FROM message_chunks',
  `SELECT jsonb_array_elements_text(audience->'user_ids') FROM messages WHERE jsonb_typeof(audience->'user_ids') = 'array'`,
  `SELECT payload->'source'->>'userId' FROM outbox`,
].join(' UNION ')
const PEOPLE_AT_ONCE = 5_000

/** Writes later erasures to a restored database, and queues the people in it whom they concern for erasure. */
export async function storeLaterErasures(tx: Query, later: readonly Erased[]): Promise<void> {
  if (later.length === 0) return
  await tx`
    INSERT INTO erasures (user_hash, generation, erased_at, stands, walked)
    SELECT hash, generation, to_timestamp(ms / 1000), stands = 1, 0 FROM unnest(
      ${later.map((one) => one.userHash)}::text[], ${later.map((one) => one.generation)}::int[],
      ${later.map((one) => one.erasedMs)}::float8[], ${later.map((one) => Number(one.stands ?? false))}::int[])
      AS l (hash, generation, ms, stands)
    ON CONFLICT (user_hash) DO UPDATE SET
      generation = excluded.generation, erased_at = excluded.erased_at, stands = excluded.stands`
  const byHash = new Map(later.map((one) => [one.userHash, one]))
  const back: { readonly userId: string; readonly erased: Erased }[] = []
  const named = `SELECT user_id FROM (${NAMED}) n (user_id) WHERE user_id IS NOT NULL`
  for await (const rows of cursorBatches<{ user_id: string }>(tx, 'named', named, PEOPLE_AT_ONCE))
    for (const { user_id: userId } of rows) {
      const erased = byHash.get(userHash(userId))
      if (erased !== undefined) back.push({ userId, erased })
    }
  await tx`
    INSERT INTO erasing (subject, generation, erased_at, erased, objects, remaining)
    SELECT subject, generation, to_timestamp(ms / 1000), '{"pending": 0, "pictures": 0}', '[]',
           '["rows", "buffer", "objects"]'
    FROM unnest(${back.map(({ userId }) => userId)}::text[], ${back.map(({ erased }) => erased.generation)}::int[],
                ${back.map(({ erased }) => erased.erasedMs)}::float8[]) AS b (subject, generation, ms)
    ON CONFLICT (subject) DO UPDATE SET generation = excluded.generation, erased_at = excluded.erased_at,
      remaining = excluded.remaining`
}

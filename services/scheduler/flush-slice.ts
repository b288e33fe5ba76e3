/** A slice of pending points, in one transaction: stored, folded, summed. What the database refuses is set aside. */
import type { Pending } from '#shared/kv/kv.ts'
import { unpack } from '#shared/buffer/point.ts'
import { type Database, isDatabaseUnavailable, type Query } from '#shared/db/db.ts'
import type { Calendar } from '#shared/rules/calendar.ts'
import { foldPoints } from './fold-points.ts'
import { type OwnedPoint, storePoints } from './store-points.ts'
import { writeChanges } from './write-changes.ts'

/** What a slice came to; every point of it is in exactly one of the three. */
export interface SliceResult {
  readonly stored: number
  readonly duplicates: number
  readonly deadLetters: number
}

/** A point that can not be stored, as it stood in the buffer. */
interface DeadLetter {
  readonly userId: string
  readonly field: string
  readonly value: string
  readonly reason: string
}

const NOTHING: SliceResult = { stored: 0, duplicates: 0, deadLetters: 0 }

const sum = (a: SliceResult, b: SliceResult): SliceResult => ({
  stored: a.stored + b.stored,
  duplicates: a.duplicates + b.duplicates,
  deadLetters: a.deadLetters + b.deadLetters,
})

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/**
 * Stores a slice. Resolves when all of it is committed, in the table or among the dead letters.
 * @throws when the database is away: nothing of the slice may be deleted from the buffer then
 */
export async function flushSlice(
  db: Database,
  calendar: Calendar,
  slice: readonly Pending[],
  now: () => number,
): Promise<SliceResult> {
  const points: (OwnedPoint & { readonly value: string })[] = []
  let result = NOTHING
  for (const { userId, entries } of slice)
    for (const entry of entries)
      try {
        points.push({ ...unpack(entry), userId, value: entry.value })
      } catch (error) {
        result = sum(result, await setAside(db, { userId, ...entry, reason: reasonOf(error) }, now()))
      }
  return sum(result, await storeOrHalve(db, calendar, points, now))
}

async function storeOrHalve(
  db: Database,
  calendar: Calendar,
  points: readonly (OwnedPoint & { readonly value: string })[],
  now: () => number,
): Promise<SliceResult> {
  if (points.length === 0) return NOTHING
  try {
    return await store(db, calendar, points, now)
  } catch (error) {
    if (isDatabaseUnavailable(error) || isContention(error)) throw error
    const [only] = points
    if (points.length === 1 && only !== undefined) {
      const { userId, value, kind, sentMs } = only
      return setAside(db, { userId, field: `${kind}${sentMs}`, value, reason: reasonOf(error) }, now())
    }
    const half = Math.ceil(points.length / 2)
    const first = await storeOrHalve(db, calendar, points.slice(0, half), now)
    return sum(first, await storeOrHalve(db, calendar, points.slice(half), now))
  }
}

/** Serialisation failures and deadlocks: the slice is fine, the moment was not. */
const isContention = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('40')

async function store(
  db: Database,
  calendar: Calendar,
  points: readonly OwnedPoint[],
  now: () => number,
): Promise<SliceResult> {
  const stored = await db.sql.begin(async (tx) => {
    const fresh = await storePoints(tx, points)
    await lockPilgrims(tx, [...new Set(points.map(({ userId }) => userId))].sort(), now())
    await writeChanges(tx, await foldPoints(tx, fresh, calendar), calendar)
    return fresh.length
  })
  return { stored, duplicates: points.length - stored, deadLetters: 0 }
}

/** Makes pilgrims that are new, and locks all of them in the order that every flush keeps. */
async function lockPilgrims(tx: Query, userIds: readonly string[], nowMs: number): Promise<void> {
  await tx`
    INSERT INTO pilgrims (user_id, created_at, updated_at)
    SELECT user_id, to_timestamp(${nowMs}::float8 / 1000), to_timestamp(${nowMs}::float8 / 1000)
    FROM unnest(${userIds as string[]}::text[]) AS u (user_id) ORDER BY user_id
    ON CONFLICT DO NOTHING`
  await tx`
    INSERT INTO pilgrim_totals (user_id)
    SELECT user_id FROM unnest(${userIds as string[]}::text[]) AS u (user_id) ORDER BY user_id
    ON CONFLICT DO NOTHING`
  await tx`
    SELECT 1 FROM pilgrim_totals WHERE user_id = ANY(${userIds as string[]}::text[]) ORDER BY user_id FOR UPDATE`
}

/** Keeps a point that the database refuses, with the reason, where an operator finds it. */
async function setAside(
  db: Database,
  { userId, field, value, reason }: DeadLetter,
  nowMs: number,
): Promise<SliceResult> {
  await db.sql`
    INSERT INTO dead_letters (user_id, field, value, reason, created_at)
    VALUES (${userId}, ${field}, ${value}, ${reason}, to_timestamp(${nowMs}::float8 / 1000))`
  return { ...NOTHING, deadLetters: 1 }
}

/**
 * Pilgrims with more points of one day than phones record. A late point folds its whole day again, so a day has to end
 * somewhere: the flush, which counts the points of each day, notes these pilgrims in the kv until midnight, and no
 * replica admits a track of theirs until then. Points that were answered with success are stored all the same.
 */
import { never, type StartStopwatch, stopwatch } from '#shared/runtime/clock.ts'
import { type KvKeys, type KvPoints, userHash } from '#shared/stores/kv/kv.ts'

/** Two phones that record each second of a day have 172,800. */
export const POINTS_A_DAY = 200_000
/** Age at which a replica reads the notes again (ms). */
const FOLLOW_MS = 10_000

const keyOf = (partition: number): string => `full-days:${partition}`

/** Hashes of the pilgrims of a partition: an erasure then leaves no id behind. */
const readNotes = async (kv: KvKeys, partition: number): Promise<string[]> =>
  JSON.parse((await kv.cached(keyOf(partition))) ?? '[]') as string[]

/**
 * Adds pilgrims to the notes of a partition, whose flush lock the caller holds.
 * @param ttlMs until midnight
 * @throws KvUnavailable
 */
export async function noteFullDays(
  kv: KvKeys,
  partition: number,
  userIds: Iterable<string>,
  ttlMs: number,
): Promise<void> {
  const notes = new Set([...(await readNotes(kv, partition)), ...Array.from(userIds, userHash)])
  if (notes.size > 0) await kv.cache(keyOf(partition), JSON.stringify([...notes]), ttlMs)
}

/**
 * @returns whether a pilgrim is noted, as this replica read it last: each call reads the notes again, beside its answer,
 * once they are ten seconds old
 */
export function followFullDays(
  kv: KvKeys & KvPoints,
  timing: StartStopwatch = stopwatch,
): (userId: string) => boolean {
  let noted = new Set<string>()
  let age = never
  const read = async (): Promise<void> => {
    const notes = await Promise.all(Array.from({ length: kv.partitions }, (_, p) => readNotes(kv, p)))
    noted = new Set(notes.flat())
  }
  return (userId) => {
    if (age() > FOLLOW_MS) {
      age = timing()
      // While the kv is unavailable the last notes hold.
      read().catch(() => undefined)
    }
    return noted.size > 0 && noted.has(userHash(userId))
  }
}

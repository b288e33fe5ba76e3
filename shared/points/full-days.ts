/**
 * Days with more points than phones record. A late point makes the flush fold its whole day again, so the size of a day
 * must be bounded: the flush counts each day's points and notes full days in the kv, and every replica then rejects
 * further track points of such a day. Points that were acknowledged are still stored.
 */
import { never, type StartStopwatch, stopwatch } from '#shared/runtime/clock.ts'
import { type KvErasures, type KvKeys, userHash } from '#shared/stores/kv/kv.ts'

/** Two phones that record every second of a day send 172,800. */
export const POINTS_A_DAY = 200_000
/** Age at which a replica reads the notes again (ms). */
const FOLLOW_MS = 10_000
/** Notes older than this are not used: the pilgrim may have been erased and registered again (ms). */
const STALE_MS = 5 * 60_000

const keyOf = (partition: number): string => `full-days:${partition}`

/** A pilgrim's full day. */
export interface FullDay {
  readonly userId: string
  /** `YYYY-MM-DD`, in the event's time zone. */
  readonly day: string
}

/** Identifies the pilgrim by hash, so that an erasure leaves no id behind. */
interface Note {
  readonly userHash: string
  readonly day: string
  /** Start of the flush that counted it. An erasure since then invalidates the note. */
  readonly atMs: number
}

const readNotes = async (kv: KvKeys, partition: number): Promise<Note[]> =>
  JSON.parse((await kv.cached(keyOf(partition))) ?? '[]') as Note[]

/**
 * Adds days to the notes of a partition whose flush lock the caller holds.
 * @param atMs when the flush began
 * @param lifeMs how long points of a day are accepted; notes of older days are dropped
 * @throws KvUnavailable
 */
export async function noteFullDays(
  kv: KvKeys,
  partition: number,
  full: readonly FullDay[],
  atMs: number,
  lifeMs: number,
): Promise<void> {
  const kept = (await readNotes(kv, partition)).filter((note) => note.atMs > atMs - lifeMs)
  const added = full.map(({ userId, day }): Note => ({ userHash: userHash(userId), day, atMs }))
  const notes = new Map([...kept, ...added].map((note) => [`${note.userHash} ${note.day}`, note]))
  await kv.cache(keyOf(partition), JSON.stringify([...notes.values()]), lifeMs)
}

const NONE: ReadonlySet<string> = new Set()

export type FullDaysOf = (userId: string) => ReadonlySet<string>

/**
 * @returns the full days of a pilgrim as this replica last read them. A call with notes older than ten seconds also
 *   starts reading them again, without waiting
 */
export function followFullDays(
  kv: KvKeys & Pick<KvErasures, 'partitions' | 'erased'>,
  timing: StartStopwatch = stopwatch,
): FullDaysOf {
  let daysOf = new Map<string, ReadonlySet<string>>()
  let askedAge = never
  let readAge = never
  const standing = async (partition: number): Promise<Note[]> => {
    const notes = await readNotes(kv, partition)
    if (notes.length === 0) return notes
    const erasedMs = new Map((await kv.erased(partition)).map((one) => [one.userHash, one.erasedMs]))
    return notes.filter((note) => note.atMs > (erasedMs.get(note.userHash) ?? -Infinity))
  }
  const read = async (): Promise<void> => {
    const age = timing()
    const notes = await Promise.all(Array.from({ length: kv.partitions }, (_, p) => standing(p)))
    const byPilgrim = Map.groupBy(notes.flat(), (note) => note.userHash)
    daysOf = new Map(Array.from(byPilgrim, ([hash, own]) => [hash, new Set(own.map(({ day }) => day))]))
    readAge = age
  }
  return (userId) => {
    if (askedAge() > FOLLOW_MS) {
      askedAge = timing()
      // While the kv is unavailable, the last notes stay valid.
      read().catch(() => undefined)
    }
    if (daysOf.size === 0 || readAge() > STALE_MS) return NONE
    return daysOf.get(userHash(userId)) ?? NONE
  }
}

/** Cuts a partition's pending points into slices for one transaction each. */
import type { Entry, Kv, Pending } from '#shared/kv/kv.ts'

/** Pilgrims in the first call of the kv; the following ones ask for as many as fill a slice. */
const FIRST_READ = 50
const LONGEST_READ = 1_000

/** Yields a partition's pending points, longest waiting pilgrims first; one with many points is cut. */
export async function* slices(kv: Kv, partition: number, slicePoints: number): AsyncGenerator<Pending[]> {
  const users = await kv.pendingUsers(partition)
  let slice: Pending[] = []
  let size = 0
  let reading = FIRST_READ
  for (let i = 0; i < users.length;) {
    const asked = users.slice(i, i + reading)
    i += asked.length
    const read = await kv.drain(partition, asked)
    let points = 0
    for (const { userId, entries } of read)
      for (const part of parts(entries, slicePoints)) {
        slice.push({ userId, entries: part })
        size += part.length
        points += part.length
        if (size < slicePoints) continue
        yield slice
        slice = []
        size = 0
      }
    const fitting = Math.round((slicePoints * asked.length) / Math.max(points, 1))
    reading = Math.min(Math.max(fitting, 1), LONGEST_READ)
  }
  if (slice.length > 0) yield slice
}

/** One part, mostly. An empty buffer has one, too: settling it takes its pilgrim off the list. */
function parts(entries: readonly Entry[], slicePoints: number): (readonly Entry[])[] {
  if (entries.length <= slicePoints) return [entries]
  // In order of time, so that no part is late for the one before it.
  const sorted = [...entries].sort((a, b) => sentMs(a) - sentMs(b))
  const cuts = Math.ceil(sorted.length / slicePoints)
  return Array.from({ length: cuts }, (_, i) => sorted.slice(i * slicePoints, (i + 1) * slicePoints))
}

const sentMs = ({ field }: Entry): number => Number(field.slice(1))

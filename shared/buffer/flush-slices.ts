/** Cuts a partition's pending points into slices for one transaction each. */
import type { Entry, Kv, Pending } from '#shared/kv/kv.ts'
import type { Book } from '#shared/ledger/stored-counters.ts'

/** Pilgrims in the first call of the kv; the following ones ask for as many as fill a slice. */
const FIRST_READ = 50
const LONGEST_READ = 1_000

/** Points of one transaction, and the life of the partition that they were read from. */
export interface Slice extends Book {
  readonly pending: readonly Pending[]
}

/** Yields a partition's pending points, longest waiting pilgrims first; one with many points is cut. */
export async function* slices(kv: Kv, partition: number, slicePoints: number): AsyncGenerator<Slice> {
  const users = await kv.pendingUsers(partition)
  let pending: Pending[] = []
  let size = 0
  let epoch = ''
  let reading = FIRST_READ
  for (let i = 0; i < users.length;) {
    const asked = users.slice(i, i + reading)
    i += asked.length
    // Asked before what it names: points of a new life under the old name would be missing there.
    const [held, read] = await Promise.all([kv.epoch(partition), kv.drain(partition, asked)])
    if (held !== epoch && pending.length > 0) {
      yield { epoch, partition, pending }
      pending = []
      size = 0
    }
    epoch = held
    let points = 0
    for (const { userId, entries } of read)
      for (const part of parts(entries, slicePoints)) {
        pending.push({ userId, entries: part })
        size += part.length
        points += part.length
        if (size < slicePoints) continue
        yield { epoch, partition, pending }
        pending = []
        size = 0
      }
    const fitting = Math.round((slicePoints * asked.length) / Math.max(points, 1))
    reading = Math.min(Math.max(fitting, 1), LONGEST_READ)
  }
  if (pending.length > 0) yield { epoch, partition, pending }
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

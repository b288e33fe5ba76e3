/**
 * The simulation of a crowd, as one stream of actions in order of time. It is pure: the same seed and numbers
 * give the same stream, and it uses no clock. Its memory depends on the number of pilgrims, not on their
 * history.
 */
import type { Act } from './acts.ts'
import { createPerson, type Person, randomOf } from './person.ts'
import { pilgrimage } from './pilgrimage.ts'
import type { Way } from './way.ts'

export interface CrowdOptions {
  readonly pilgrims: number
  readonly seed: number
  readonly way: Way
  /**
   * Before this time (seconds since the departure) phones measure few positions, so that days of history are
   * sent within seconds.
   */
  readonly sparseUntilS: number
}

export interface Crowd {
  readonly people: readonly Person[]
  /** Factor by which a large crowd's history is reduced; 1: complete. */
  readonly thinner: number
  /** All acts, in order of time and of the pilgrim's number. */
  acts(): Generator<Act>
  /** Kilometres that each pilgrim actually moved; known when the stream has ended. */
  readonly movedKm: ReadonlyMap<number, number>
}

/**
 * A larger crowd has a reduced history: phones queue all of it at once, and it must be sent within minutes.
 */
const DETAILED_HISTORY = 5_000

/** Creates a crowd. Its people are known at once; their actions are computed as they are read. */
export function createCrowd({ pilgrims, seed, way, sparseUntilS }: CrowdOptions): Crowd {
  const people: Person[] = []
  const trips: Generator<Act>[] = []
  const movedKm = new Map<number, number>()
  const sparse = { untilS: sparseUntilS, thinner: Math.max(1, pilgrims / DETAILED_HISTORY) }
  for (let who = 0; who < pilgrims; who++) {
    const random = randomOf(seed, who)
    const person = createPerson(seed, who, way, random)
    people.push(person)
    trips.push(pilgrimage(person, random, way, sparse, (km) => movedKm.set(who, km)))
  }
  return { people, thinner: sparse.thinner, movedKm, acts: () => merge(trips) }
}

/** Merges streams, each in order of time. */
function* merge(trips: readonly Generator<Act>[]): Generator<Act> {
  const heap: Act[] = []
  const take = (who: number): Act | null => {
    const { value, done } = trips[who]!.next()
    return done === true ? null : value
  }
  for (let who = 0; who < trips.length; who++) {
    const first = take(who)
    if (first !== null) rise(heap, first)
  }
  while (heap.length > 0) {
    const first = heap[0]!
    yield first
    const next = take(first.who)
    if (next !== null) sink(heap, next)
    else {
      const last = heap.pop()!
      if (heap.length > 0) sink(heap, last)
    }
  }
}

const isBefore = (a: Act, b: Act): boolean => a.atS < b.atS || (a.atS === b.atS && a.who < b.who)

/** Adds an action to a binary heap. */
function rise(heap: Act[], added: Act): void {
  let at = heap.push(added) - 1
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (!isBefore(added, heap[parent]!)) break
    heap[at] = heap[parent]!
    at = parent
  }
  heap[at] = added
}

/** Replaces the first action of a binary heap. */
function sink(heap: Act[], put: Act): void {
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
    if (!isBefore(heap[child]!, put)) break
    heap[at] = heap[child]!
    at = child
  }
  heap[at] = put
}

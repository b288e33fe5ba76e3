/**
 * Crowds for the public map: a quadtree of the map's cells from zoom 10 to 18, each divided while enough people are in
 * it (spatial cloaking; Gruteser and Grunwald, MobiSys 2003).
 */
import { eachOf } from '#shared/runtime/yield-to-event-loop.ts'
import { type Cell, MAX_ZOOM } from '#shared/core/map/cells.ts'
import { CLAIM_ZOOM } from '#shared/core/rules/claim-measures.ts'

/** The widest cells that form crowds, about 1.4 km. */
export const WIDEST_ZOOM = 10

/** People as columns. */
interface People {
  readonly count: number
  /** Column and row of the finest cell (`cellAt`). */
  readonly xs: ArrayLike<number>
  readonly ys: ArrayLike<number>
  /** When they were last seen, epoch milliseconds. */
  readonly times: ArrayLike<number>
  /** 1 for a claim, which no cell finer than `CLAIM_ZOOM` counts; else 0. */
  readonly claims: ArrayLike<number>
}

/** People who cannot be distinguished: all are in this cell, and were seen at `sinceMs` or later. */
export interface Crowd {
  readonly cell: Cell
  readonly count: number
  readonly sinceMs: number
}

/**
 * Groups people into the finest cells with at least `least` of them, each person in one crowd. People whose finer cells
 * have fewer are grouped in the wider cell; if they are still too few, the smallest crowd within it joins them. So
 * everyone with enough people in the same cell of zoom 10 is in a crowd. All others are left out. Where a claim is within
 * its cell of zoom 12 changes nothing. Computed in turns of the event loop (`inTurns`), because half a million people
 * take seconds.
 *
 * @param least people in a crowd, at least 1
 * @param finest zoom of the smallest cells
 * @returns crowds in an order that is independent of the order of the people
 */
export function* groupIntoCrowds(
  people: People,
  least: number,
  finest = MAX_ZOOM,
): Generator<void, readonly Crowd[]> {
  const { xs, ys } = people
  const up = MAX_ZOOM - WIDEST_ZOOM
  const keys = new Int32Array(people.count)
  const sizes = new Map<number, number>()
  yield* eachOf(keys, (_, i) => {
    const key = (keys[i] = (ys[i]! >> up) * 2 ** 16 + (xs[i]! >> up))
    sizes.set(key, (sizes.get(key) ?? 0) + 1)
  })
  const widest = [...sizes].filter(([, size]) => size >= least).sort(([a], [b]) => a - b)
  let filled = 0
  const next = new Map<number, number>()
  for (const [key, size] of widest) {
    next.set(key, filled)
    filled += size
  }
  const order = new Int32Array(filled)
  yield* eachOf(keys, (key, i) => {
    const at = next.get(key)
    if (at === undefined) return
    order[at] = i
    next.set(key, at + 1)
  })
  const crowds: Crowd[] = []
  let from = 0
  for (const [, size] of widest) {
    yield
    yield* divide({ ...people, order, least, finest, crowds }, from, (from += size), WIDEST_ZOOM)
  }
  return crowds
}

/** The computation pauses before a cell with more people. */
const PAUSE_ABOVE = 500

interface Cloud extends People {
  /** The pilgrims' rows in the columns, grouped by widest cell; they are sorted into quarters. */
  readonly order: Int32Array
  readonly least: number
  readonly finest: number
  /** The crowds found so far. */
  readonly crowds: Crowd[]
}

/** People who are not in a crowd yet, fewer than a crowd needs. */
type Rest = Pick<Crowd, 'count' | 'sinceMs'>
const NOBODY: Rest = { count: 0, sinceMs: Infinity }

const together = (a: Rest, b: Rest): Rest => ({
  count: a.count + b.count,
  sinceMs: Math.min(a.sinceMs, b.sinceMs),
})

/**
 * Finds the crowds of a cell with the people `from` to before `to` of the order, who are enough for one.
 * @returns people without a crowd
 */
function* divide(cloud: Cloud, from: number, to: number, zoom: number): Generator<void, Rest> {
  const { order, least, finest, crowds } = cloud
  if (to - from > PAUSE_ABOVE) yield
  const first = crowds.length
  let rest = NOBODY
  if (zoom === finest) rest = everybody(cloud, from, to)
  else {
    const last = zoom === CLAIM_ZOOM ? split(order, cloud.claims, 1, from, to) : to
    rest = everybody(cloud, last, to)
    const bit = 1 << (MAX_ZOOM - zoom - 1)
    const middle = split(order, cloud.ys, bit, from, last)
    for (const [south, north] of [
      [from, middle],
      [middle, last],
    ] as const) {
      const half = split(order, cloud.xs, bit, south, north)
      for (const [first, end] of [
        [south, half],
        [half, north],
      ] as const) {
        if (end === first) continue
        const isEnough = end - first >= least
        rest = together(
          rest,
          isEnough ? yield* divide(cloud, first, end, zoom + 1) : everybody(cloud, first, end),
        )
      }
    }
    if (rest.count === 0) return rest
    if (rest.count < least) rest = together(rest, takeSmallest(crowds, first))
  }
  const up = MAX_ZOOM - zoom
  crowds.push({ ...rest, cell: { zoom, x: cloud.xs[order[from]!]! >> up, y: cloud.ys[order[from]!]! >> up } })
  return NOBODY
}

function everybody({ times, order }: Cloud, from: number, to: number): Rest {
  let sinceMs = Infinity
  for (let i = from; i < to; i++) sinceMs = Math.min(sinceMs, times[order[i]!]!)
  return { count: to - from, sinceMs }
}

/** Sorts people without the bit before those with it. @returns where the latter begin */
function split(order: Int32Array, values: ArrayLike<number>, bit: number, from: number, to: number): number {
  let end = to
  for (let i = from; i < end;) {
    const person = order[i]!
    if ((values[person]! & bit) === 0) i++
    else {
      order[i] = order[--end]!
      order[end] = person
    }
  }
  return end
}

/** Removes and returns the smallest crowd from index `first`; there is at least one. */
function takeSmallest(crowds: Crowd[], first: number): Crowd {
  let smallest = first
  for (let i = first + 1; i < crowds.length; i++) if (crowds[i]!.count < crowds[smallest]!.count) smallest = i
  return crowds.splice(smallest, 1)[0]!
}

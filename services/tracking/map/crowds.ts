/**
 * Crowds for the public map: a quadtree of the map's cells from zoom 10 to 18, each divided as long as enough people
 * are in it (spatial cloaking; Gruteser and Grunwald, MobiSys 2003).
 */
import { eachOf, sorted } from '#shared/runtime/in-turns.ts'
import { type Cell, cellAt, MAX_ZOOM } from '#shared/map/cells.ts'

/** The widest cells that form crowds, about 1.4 km. */
export const WIDEST_ZOOM = 10

export interface Seen {
  readonly lat: number
  readonly lng: number
  /** Epoch milliseconds. */
  readonly t: number
}

/** People who can not be distinguished: all are in this cell, and were seen at `sinceMs` or later. */
export interface Crowd {
  readonly cell: Cell
  readonly count: number
  readonly sinceMs: number
}

/**
 * Groups people into the finest cells with at least `least` of them, each person in one crowd. People whose finer cells
 * have fewer are grouped in the wider cell; if they are too few alone, the smallest crowd within it joins them. So
 * everybody with enough people in the same cell of zoom 10 is in a crowd. All others are left out. Computed in turns of
 * the event loop (`inTurns`), for half a million people take seconds.
 *
 * @param least people in a crowd, at least 1
 * @returns crowds in the order of their cells, independent of the order of the people
 */
export function* groupIntoCrowds(people: readonly Seen[], least: number): Generator<void, readonly Crowd[]> {
  const xs = new Int32Array(people.length)
  const ys = new Int32Array(people.length)
  const times = new Float64Array(people.length)
  const widest = new Map<number, number[]>()
  const up = MAX_ZOOM - WIDEST_ZOOM
  yield* eachOf(people, ({ lat, lng, t }, i) => {
    const { x, y } = cellAt(lat, lng, MAX_ZOOM)
    xs[i] = x
    ys[i] = y
    times[i] = t
    const key = (y >> up) * 2 ** 16 + (x >> up)
    const held = widest.get(key)
    if (held === undefined) widest.set(key, [i])
    else held.push(i)
  })
  const crowds: Crowd[] = []
  for (const within of widest.values())
    yield* divide(
      { xs, ys, times, order: new Int32Array(within), least, crowds },
      0,
      within.length,
      WIDEST_ZOOM,
    )
  return yield* sorted(crowds, byCell)
}

/** A cell with more people is preceded by a pause. */
const PAUSE_ABOVE = 500

/** People of a widest cell, by column and row of their finest one. */
interface Cloud {
  readonly xs: Int32Array
  readonly ys: Int32Array
  readonly times: Float64Array
  /** Their indexes in the lists above; they are sorted into quarters. */
  readonly order: Int32Array
  readonly least: number
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

/** Finds the crowds of a cell with the people `from` to before `to` of the order. @returns people without a crowd */
function* divide(cloud: Cloud, from: number, to: number, zoom: number): Generator<void, Rest> {
  const { order, least, crowds } = cloud
  if (to - from > PAUSE_ABOVE) yield
  if (to - from < least) return everybody(cloud, from, to)
  const first = crowds.length
  let rest = NOBODY
  if (zoom === MAX_ZOOM) rest = everybody(cloud, from, to)
  else {
    const bit = 1 << (MAX_ZOOM - zoom - 1)
    const middle = split(order, cloud.ys, bit, from, to)
    for (const [south, north] of [
      [from, middle],
      [middle, to],
    ] as const) {
      const half = split(order, cloud.xs, bit, south, north)
      if (half > south) rest = together(rest, yield* divide(cloud, south, half, zoom + 1))
      if (north > half) rest = together(rest, yield* divide(cloud, half, north, zoom + 1))
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
function split(order: Int32Array, values: Int32Array, bit: number, from: number, to: number): number {
  let end = to
  for (let i = from; i < end;) {
    const one = order[i]!
    if ((values[one]! & bit) === 0) i++
    else {
      order[i] = order[--end]!
      order[end] = one
    }
  }
  return end
}

/** Removes and returns the smallest crowd from `first` on; there is at least one. */
function takeSmallest(crowds: Crowd[], first: number): Crowd {
  let smallest = first
  for (let i = first + 1; i < crowds.length; i++) if (crowds[i]!.count < crowds[smallest]!.count) smallest = i
  return crowds.splice(smallest, 1)[0]!
}

const byCell = ({ cell: a }: Crowd, { cell: b }: Crowd): number => a.zoom - b.zoom || a.y - b.y || a.x - b.x

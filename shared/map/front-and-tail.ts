/** Front and tail of the walking pilgrims. */
import { distanceMm } from '#shared/rules/geo.ts'
import type { Place, Route } from './walking-route.ts'

/** Places as parallel lists; a weight is the number of people or points there, at least one. */
export interface Places {
  readonly lats: readonly number[]
  readonly lngs: readonly number[]
  readonly weights: readonly number[]
}

/** `alongM` is the distance along the route, metres; null without a route. */
export interface End extends Place {
  readonly alongM: number | null
}

export interface Ends {
  readonly front: End
  readonly tail: End
  readonly spreadMm: number
}

/** Fraction of the pilgrims that is left out at each end. */
const STRAYS = 0.05
/** Pilgrims farther from the route are left out. */
const OFF_ROUTE_M = 5_000

const RADIANS = Math.PI / 180

/** Everybody near the route, from its beginning on. */
const nearRoute = ({ lats, lngs, weights }: Places, route: Route) =>
  weights
    .map((weight, i) => ({ weight, ...projected({ lat: lats[i]!, lng: lngs[i]! }, route) }))
    .filter(({ offM }) => offM <= OFF_ROUTE_M)
    .sort((a, b) => a.alongM - b.alongM)

/** Front and tail along a route; null when nobody is near it. */
export function alongRoute(pilgrims: Places, route: Route): Ends | null {
  const ends = withoutStrays(nearRoute(pilgrims, route))
  if (ends === null) return null
  const [tail, front] = ends.map(({ alongM }) => ({ ...route.at(alongM), alongM })) as [End, End]
  return { front, tail, spreadMm: (front.alongM! - tail.alongM!) * 1_000 }
}

/** Cached projections: every read contains the same cells, and a route has many legs. */
const KNOWN_MAX = 100_000
const known = new WeakMap<Route, Map<string, ReturnType<Route['project']>>>()

function projected(place: Place, route: Route): ReturnType<Route['project']> {
  let mine = known.get(route)
  if (mine === undefined || mine.size >= KNOWN_MAX) known.set(route, (mine = new Map()))
  const key = `${place.lat} ${place.lng}`
  let found = mine.get(key)
  if (found === undefined) mine.set(key, (found = route.project(place)))
  return found
}

/**
 * Front and tail without a route: along the crowd's principal axis, in the direction of movement. The axis is that of
 * the nine in ten pilgrims nearest to the middle, so that a few far away do not turn it.
 * @param pilgrims their latest positions
 * @param points their earlier positions
 */
export function alongAxis(pilgrims: Places, points: Places): Ends | null {
  const { lats, lngs, weights } = pilgrims
  if (weights.length === 0) return null
  const middle = middleOf(pilgrims)
  const { xs, ys } = flat(pilgrims, middle)
  const crowd = withoutFarthest(xs, ys, weights)
  const past = flat(points, middle)
  const [dx, dy] = direction(xs, ys, crowd, [mean(past.xs, points.weights), mean(past.ys, points.weights)])
  let [least, most] = [Infinity, -Infinity]
  let [first, last] = [0, 0]
  for (let i = 0; i < crowd.length; i++) {
    if (crowd[i] === 0) continue
    const along = xs[i]! * dx + ys[i]! * dy
    if (along < least) [least, last] = [along, i]
    if (along > most) [most, first] = [along, i]
  }
  const [front, tail] = [first, last].map((i) => ({ lat: lats[i]!, lng: lngs[i]!, alongM: null })) as [
    End,
    End,
  ]
  return { front, tail, spreadMm: distanceMm(tail, front) }
}

/**
 * The middle of the walk: half of the pilgrims near the route are behind it. Without a route it is at the median
 * latitude and longitude. Null when nobody is there.
 */
export function middleOfWalk(pilgrims: Places, route: Route | null): End | null {
  if (route === null) return pilgrims.weights.length === 0 ? null : { ...middleOf(pilgrims), alongM: null }
  const near = nearRoute(pilgrims, route)
  if (near.length === 0) return null
  const { alongM } = nth(near, Math.floor((sumOf(near.map(({ weight }) => weight)) - 1) / 2))
  return { ...route.at(alongM), alongM }
}

/** Median latitude and median longitude of the pilgrims. */
function middleOf({ lats, lngs, weights }: Places): Place {
  const n = Math.floor((sumOf(weights) - 1) / 2)
  return { lat: nthValue(lats, weights, n), lng: nthValue(lngs, weights, n) }
}

/** Offsets east and north of a place, in degrees of latitude. The plane is accurate enough near the place. */
function flat({ lats, lngs }: Places, { lat, lng }: Place) {
  const shrink = Math.cos(lat * RADIANS)
  const [xs, ys] = [new Float64Array(lats.length), new Float64Array(lats.length)]
  for (let i = 0; i < lats.length; i++) {
    xs[i] = (lngs[i]! - lng) * shrink
    ys[i] = lats[i]! - lat
  }
  return { xs, ys }
}

type Numbers = readonly number[] | Float64Array

/** The weights, with 0 for the pilgrims farthest from the middle (the strays of both ends). */
function withoutFarthest(xs: Numbers, ys: Numbers, weights: Numbers): Float64Array {
  const squares = new Float64Array(xs.length)
  for (let i = 0; i < squares.length; i++) squares[i] = xs[i]! ** 2 + ys[i]! ** 2
  const people = sumOf(weights)
  const farthest = nthValue(squares, weights, people - 2 * Math.floor(people * STRAYS) - 1)
  const crowd = new Float64Array(xs.length)
  for (let i = 0; i < crowd.length; i++) if (squares[i]! <= farthest) crowd[i] = weights[i]!
  return crowd
}

/** Unit vector of the crowd's principal axis, directed from earlier to latest positions. */
function direction(
  xs: Numbers,
  ys: Numbers,
  crowd: Numbers,
  [pastX, pastY]: readonly [x: number, y: number],
): readonly [x: number, y: number] {
  const [middleX, middleY] = [mean(xs, crowd), mean(ys, crowd)]
  let xx = 0
  let yy = 0
  let xy = 0
  for (let i = 0; i < crowd.length; i++) {
    const x = xs[i]! - middleX
    const y = ys[i]! - middleY
    xx += crowd[i]! * x * x
    yy += crowd[i]! * y * y
    xy += crowd[i]! * x * y
  }
  const angle = Math.atan2(2 * xy, xx - yy) / 2
  const [dx, dy] = [Math.cos(angle), Math.sin(angle)]
  const isBackward = dx * (middleX - pastX) + dy * (middleY - pastY) < 0
  return isBackward ? [-dx, -dy] : [dx, dy]
}

function sumOf(values: Numbers): number {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += values[i]!
  return sum
}

function mean(values: Numbers, weights: Numbers): number {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += values[i]! * weights[i]!
  return sum / sumOf(weights)
}

/** The weighted n-th smallest value, from 0: each value counts as often as its weight. */
function nthValue(values: Numbers, weights: Numbers, n: number): number {
  const all = new Float64Array(sumOf(weights))
  let filled = 0
  for (let i = 0; i < values.length; i++)
    for (const end = filled + weights[i]!; filled < end; filled++) all[filled] = values[i]!
  return all.sort()[n]!
}

/** First and last of a sorted crowd without the strays of both ends. */
function withoutStrays<P extends { readonly weight: number }>(sorted: readonly P[]): [P, P] | null {
  const people = sumOf(sorted.map(({ weight }) => weight))
  if (people === 0) return null
  const strays = Math.floor(people * STRAYS)
  return [nth(sorted, strays), nth(sorted, people - 1 - strays)]
}

/** The entry with the n-th pilgrim of a sorted crowd, from 0. */
function nth<P extends { readonly weight: number }>(sorted: readonly P[], n: number): P {
  let passed = 0
  return sorted.find(({ weight }) => (passed += weight) > n)!
}

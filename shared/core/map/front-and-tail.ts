/** Front, middle and tail of the walking pilgrims. */
import { distanceMm, type Place } from '#shared/core/rules/geo.ts'
import type { Route } from './walking-route.ts'

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

interface Walk {
  readonly front: End
  /** Half of the pilgrims near the route are behind it; without a route, the median latitude and longitude. */
  readonly middle: End
  readonly tail: End
  readonly spreadMm: number
}

/** Fraction of the pilgrims to ignore at each end. */
const STRAYS = 0.05
/** Pilgrims farther than this from the route are ignored. */
const OFF_ROUTE_M = 5_000
/** A map cell may be this far from the pilgrims in it, metres. */
const INEXACT_M = 1_000
const PLACES_A_TURN = 500

const RADIANS = Math.PI / 180

/**
 * The walk along a route; null when no pilgrim is near the route. Where the route passes a place more than once, its
 * pilgrims count on the stretch nearest to the middle of the others. Computed in turns of the event loop (`inTurns`).
 */
export function* alongRoute({ lats, lngs, weights }: Places, route: Route): Generator<void, Walk | null> {
  const near = { alongs: [] as number[], weights: [] as number[] }
  const certain = { alongs: [] as number[], weights: [] as number[] }
  /** Distances along the route of each stretch, by the index in `near`. */
  const uncertain = new Map<number, readonly number[]>()
  for (let i = 0; i < weights.length; i++) {
    if (i % PLACES_A_TURN === 0) yield
    const passes = route.passes({ lat: lats[i]!, lng: lngs[i]! }, OFF_ROUTE_M, INEXACT_M)
    if (passes.length === 0) continue
    const nearest = passes.reduce((best, pass) => (pass.offM < best.offM ? pass : best))
    if (passes.length > 1)
      uncertain.set(
        near.alongs.length,
        passes.map(({ alongM }) => alongM),
      )
    for (const list of passes.length > 1 ? [near] : [near, certain]) {
      list.alongs.push(nearest.alongM)
      list.weights.push(weights[i]!)
    }
  }
  if (near.alongs.length === 0) return null
  // A guide of only a few pilgrims may consist of strays.
  const guide = sumOf(certain.weights) > 2 * STRAYS * sumOf(near.weights) ? certain : near
  const guideM = nthValue(guide.alongs, guide.weights, Math.floor((sumOf(guide.weights) - 1) / 2))
  for (const [i, alongs] of uncertain)
    near.alongs[i] = alongs.reduce((best, alongM) =>
      Math.abs(alongM - guideM) < Math.abs(best - guideM) ? alongM : best,
    )
  const people = sumOf(near.weights)
  const strays = Math.floor(people * STRAYS)
  const endOf = (n: number): End => {
    const alongM = nthValue(near.alongs, near.weights, n)
    return { ...route.at(alongM), alongM }
  }
  const [front, middle, tail] = [
    endOf(people - 1 - strays),
    endOf(Math.floor((people - 1) / 2)),
    endOf(strays),
  ]
  return { front, middle, tail, spreadMm: (front.alongM! - tail.alongM!) * 1_000 }
}

/**
 * The walk without a route: along the crowd's principal axis, in the direction of movement. The axis is computed from
 * the 90 % of pilgrims nearest to the middle, so that a few far away do not turn it.
 * @param pilgrims their latest positions
 * @param points their earlier positions
 */
export function alongAxis(pilgrims: Places, points: Places): Walk | null {
  const { lats, lngs, weights } = pilgrims
  const middle = middleOf(pilgrims)
  if (middle === null) return null
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
  return { front, middle, tail, spreadMm: distanceMm(tail, front) }
}

/** Median latitude and median longitude of the pilgrims; null when there are none. */
export function middleOf({ lats, lngs, weights }: Places): End | null {
  if (weights.length === 0) return null
  const n = Math.floor((sumOf(weights) - 1) / 2)
  return { lat: nthValue(lats, weights, n), lng: nthValue(lngs, weights, n), alongM: null }
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

/** The weights, with 0 for the pilgrims farthest from the middle (as many as the strays of both ends). */
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

const BUCKETS = 1_024

/**
 * The weighted n-th smallest value, counting from 0: each value counts as often as its weight. Found with ever finer
 * buckets, because sorting takes too long when the weights add up to millions.
 */
function nthValue(values: Numbers, weights: Numbers, n: number): number {
  let [low, high] = rangeOf(values, () => true)
  let left = n
  while (low < high) {
    const [from, to] = [low, high]
    // Negative below the range; BUCKETS above it.
    const bucketOf = (value: number): number =>
      value > to ? BUCKETS : Math.min(Math.floor(((value - from) / (to - from)) * BUCKETS), BUCKETS - 1)
    const counts = new Float64Array(BUCKETS)
    for (let i = 0; i < values.length; i++) counts[bucketOf(values[i]!)]! += weights[i]!
    let bucket = 0
    while (left >= counts[bucket]!) left -= counts[bucket++]!
    ;[low, high] = rangeOf(values, (value) => bucketOf(value) === bucket)
  }
  return low
}

/** Range of the values with a positive weight. */
function rangeOf(
  values: Numbers,
  counts: (value: number) => boolean,
): readonly [least: number, most: number] {
  let [least, most] = [Infinity, -Infinity]
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    if (!counts(value)) continue
    if (value < least) least = value
    if (value > most) most = value
  }
  return [least, most]
}

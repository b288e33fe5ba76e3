/** What the map of a link is drawn from: a pure function. */
import { simplifyLine } from '#shared/core/map/simplify-line.ts'
import type { Place } from '#shared/core/map/walking-route.ts'
import { METRES_PER_DEGREE } from '#shared/core/rules/geo.ts'

/** Straight from the pilgrim: a station that is farther is not on the map at first. */
const NEAR_M = 6_000
/** The line is as exact as in a picture of this width and height, in its pixels, and never more exact than this. */
const PICTURE = { width: 600, height: 450 } as const
const FINEST_M = 2
/** Its places are written in steps of this share of what the line may be off. */
const STEP = 1 / 4

/** Longitude and latitude. */
type Position = readonly [lng: number, lat: number]

export interface ShownWay {
  /** It ends where the pilgrim is. No place has a time. */
  readonly line: readonly Position[]
  /** What the map shows at first: the pilgrim, and the stations around who are near; or the whole line. */
  readonly fit: readonly Position[]
}

/**
 * @param line at least one place, in the order of time
 * @param around the stations before and after the pilgrim
 */
export function shownWay(line: readonly Place[], around: readonly (Place | null)[]): ShownWay {
  const last = line.at(-1)!
  const shrink = Math.cos((last.lat * Math.PI) / 180)
  const metres = ({ lat, lng }: Place) => ({
    x: lng * shrink * METRES_PER_DEGREE,
    y: lat * METRES_PER_DEGREE,
    lat,
    lng,
  })
  const way = line.map(metres)
  const here = metres(last)
  const nearM = Math.max(NEAR_M, 1.5 * Math.hypot(...extentOf(way)))
  const near = around
    .flatMap((station) => (station === null ? [] : [metres(station)]))
    .filter(({ x, y }) => Math.hypot(x - here.x, y - here.y) <= nearM)
  const [wide, high] = extentOf([...way, ...near])
  // In stages: steps that changed with each new place would tell more about a place each time.
  const toleranceM = stageOf(Math.max(FINEST_M, wide / PICTURE.width, high / PICTURE.height))
  const step = (toleranceM * STEP) / METRES_PER_DEGREE
  const onStep = (degrees: number): number => rounded(Math.round(degrees / step) * step)
  const shown = simplifyLine(way, toleranceM)
    .slice(0, -1)
    .map(({ lng, lat }): Position => [onStep(lng), onStep(lat)])
  const exact = ({ lng, lat }: Place): Position => [rounded(lng), rounded(lat)]
  const whole = [...shown, exact(last)]
  return { line: whole, fit: near.length === 0 ? whole : [last, ...near].map(exact) }
}

/** The next power of the square root of two. */
const stageOf = (value: number): number => 2 ** (Math.ceil(2 * Math.log2(value)) / 2)

const rounded = (degrees: number): number => Math.round(degrees * 1e5) / 1e5

const extentOf = (points: readonly { readonly x: number; readonly y: number }[]): [number, number] => {
  const spread = (values: readonly number[]) => Math.max(...values) - Math.min(...values)
  return [spread(points.map(({ x }) => x)), spread(points.map(({ y }) => y))]
}

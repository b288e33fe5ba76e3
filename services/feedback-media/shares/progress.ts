/** A pilgrim's progress and its map, from their last points: pure functions. */
import { measuredRoute, type Route, type Station } from '#shared/core/map/walking-route.ts'
import { kmAlong, stationsAhead } from '#shared/core/rules/along-route.ts'
import { distanceMm, METRES_PER_DEGREE, simplifyLine, type Place } from '#shared/core/rules/geo.ts'
import { roundKm } from '#shared/core/rules/rounding.ts'

/** A place at a time, epoch milliseconds. */
export interface Fix {
  readonly t: number
  readonly lat: number
  readonly lng: number
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** A phone that has sent within this time counts as connected. */
const HEARD_MS = 5 * MINUTE_MS
/** After this time without news no arrival is estimated. */
const NEWS_MS = 30 * MINUTE_MS
/** A pilgrim who stays within this distance for this time is resting. */
const REST_M = 60
const REST_MS = 15 * MINUTE_MS
/** Minimum time for a speed. */
const SPEED_MS = 10 * MINUTE_MS
const LEAST_KMH = 1

interface NextStation {
  readonly station: Station
  /** Along the route, one decimal. */
  readonly km: number
  /** Epoch milliseconds; null: cannot be estimated. */
  readonly expectedMs: number | null
}

export interface Progress {
  readonly last: Fix
  readonly silentMs: number
  readonly isHeard: boolean
  /** Start of the rest, epoch milliseconds; null: not resting, or not known. */
  readonly restsSinceMs: number | null
  /** Over the last hour, one decimal; null: not known. */
  readonly speedKmh: number | null
  /** Along the route; null without a route, or off the route. */
  readonly alongKm: number | null
  readonly next: NextStation | null
  readonly previous: Station | null
}

/** @returns null without a point */
export function progressOf(
  points: readonly Fix[],
  { route, stations }: { readonly route: Route | null; readonly stations: readonly Station[] },
  nowMs: number,
): Progress | null {
  const last = points.at(-1)
  if (last === undefined) return null
  const silentMs = Math.max(0, nowMs - last.t)
  const restsSinceMs = restOf(points, last)
  const speedKmh = speedOf(points.filter(({ t }) => t >= last.t - HOUR_MS))
  const alongKm = route === null ? null : kmAlong(measuredRoute(route), points, last)
  const isMoving = silentMs < NEWS_MS && restsSinceMs === null && (speedKmh ?? 0) >= LEAST_KMH
  return {
    last,
    silentMs,
    isHeard: silentMs < HEARD_MS,
    restsSinceMs,
    speedKmh,
    alongKm,
    next: alongKm === null ? null : nextOf(stations, alongKm, isMoving ? speedKmh : null, last.t),
    previous:
      alongKm === null ? null : (stations.findLast(({ alongM }) => alongM <= alongKm * 1_000) ?? null),
  }
}

/** The first of the points since which all were near the last one. */
function restOf(points: readonly Fix[], last: Fix): number | null {
  let since = last.t
  for (const point of points.toReversed()) {
    if (distanceMm(point, last) > REST_M * 1_000) break
    since = point.t
  }
  return last.t - since >= REST_MS ? since : null
}

function speedOf(points: readonly Fix[]): number | null {
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined || last.t - first.t < SPEED_MS) return null
  let mm = 0
  // Steps below ten metres are noise of a phone at rest, as in the fold.
  let anchor = first
  for (const point of points) {
    const step = distanceMm(anchor, point)
    if (step < 10_000) continue
    mm += step
    anchor = point
  }
  // mm/ms is m/s.
  return Math.round((mm / (last.t - first.t)) * 36) / 10
}

function nextOf(
  stations: readonly Station[],
  alongKm: number,
  speedKmh: number | null,
  fromMs: number,
): NextStation | null {
  const placed = stations.map((station) => ({ one: station, routeKm: roundKm(station.alongM * 1_000) }))
  const next = stationsAhead(placed, alongKm)[0]
  if (next === undefined) return null
  const { station, km } = next
  return {
    station: station.one,
    km,
    expectedMs: speedKmh === null ? null : fromMs + (km / speedKmh) * HOUR_MS,
  }
}

/** In a straight line from the pilgrim; the initial view excludes stations farther away. */
const NEAR_M = 6_000
/** The line is as precise as a pixel of a picture of this size, but not more precise than the constant below. */
const PICTURE = { width: 600, height: 450 } as const
const FINEST_M = 2
/** Its places are rounded to this share of the tolerance. */
const STEP = 1 / 4

type Position = readonly [lng: number, lat: number]

interface ShownWay {
  /** It ends at the pilgrim's position. No place has a time. */
  readonly line: readonly Position[]
  /** The initial view of the map: the pilgrim, and nearby stations; or the whole line. */
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
  // In stages: a tolerance that changed with each new place would reveal more about a place each time.
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

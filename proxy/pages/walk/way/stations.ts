/**
 * The next stations and places of the route, and when the pilgrim reaches a station at their own pace. Pure
 * functions.
 */
import {
  kmAlong,
  type MeasuredRoute,
  measureRoute,
  nextOfEachKind,
  type PlaceAhead,
  stationsAhead,
  unpackLines,
  wayToRoute,
} from '#shared/core/rules/along-route.ts'
import { metresBetween } from '../recording/position-filter.ts'
import type { Route } from './own-way.ts'
import { CLOCK_TOLERANCE_MS } from '../session/clock-rules.ts'

export interface TimedPlace {
  readonly lat: number
  readonly lng: number
  /** Epoch milliseconds. */
  readonly t: number
}
type Station = Route['stations'][number]
export interface NextStation {
  readonly station: Station
  /** Along the route. */
  readonly km: number
  /** Epoch milliseconds; null: the pace is not known. */
  readonly atMs: number | null
}

/** Window over which the pace is computed, including rests. */
const PACE_MS = 3 * 3_600_000
const MIN_PACE_MS = 20 * 60_000
/** Above this speed it is not walking. */
const MAX_KMH = 15
const MOST = 3

const measured = new WeakMap<object, MeasuredRoute>()
const measuredOf = (route: Pick<Route, 'lines' | 'km'>): MeasuredRoute => {
  const known = measured.get(route) ?? measureRoute(unpackLines(route.lines), route.km)
  measured.set(route, known)
  return known
}

/** Minutes of walking until the pace is known, if the walk goes on; at least 1. */
export function minutesToPace(line: readonly TimedPlace[]): number {
  const last = line.at(-1)?.t ?? 0
  const first = line.find(({ t }) => last - t <= PACE_MS)?.t ?? last
  return Math.max(1, Math.ceil((MIN_PACE_MS - (last - first)) / 60_000))
}

/** Mean speed over the last three hours, rests included, in km/h; null: too little is known. */
export function paceOf(line: readonly TimedPlace[]): number | null {
  const last = line.at(-1)
  if (last === undefined) return null
  const recent = line.filter(({ t }) => last.t - t <= PACE_MS)
  const elapsedMs = last.t - recent[0]!.t
  if (elapsedMs < MIN_PACE_MS) return null
  let metres = 0
  for (let i = 1; i < recent.length; i++) metres += metresBetween(recent[i - 1]!, recent[i]!)
  const kmh = (metres / elapsedMs) * 3_600
  return kmh > 0.5 && kmh <= MAX_KMH ? kmh : null
}

/**
 * The next stations, nearest first; none off the route.
 * @param walked the way so far, in order of time
 * @param kmh own pace; null: not known
 */
export function nextStations(
  route: Pick<Route, 'lines' | 'km' | 'stations'>,
  { walked, here, kmh }: Whereabouts,
  nowMs: number,
): NextStation[] {
  const hereKm = kmAlong(measuredOf(route), walked, here)
  if (hereKm === null) return []
  return stationsAhead(
    route.stations.map((one) => ({ one, routeKm: one.route_km })),
    hereKm,
  )
    .slice(0, MOST)
    .map(({ station: { one }, km }) => ({
      station: one,
      km,
      atMs: kmh === null ? null : nowMs + (km / kmh) * 3_600_000,
    }))
}

/** What lies ahead of the pilgrim. */
export type Ahead =
  | { readonly is: 'stations'; readonly next: readonly NextStation[] }
  /** The pilgrim has passed the last station. */
  | { readonly is: 'end' }
  /** Too far from the route; see {@link wayToRoute}. */
  | { readonly is: 'off'; readonly metres: number; readonly direction: number }

/** @returns null: the event has no route, or no stations */
export function aheadOf(
  route: Pick<Route, 'lines' | 'km' | 'stations'>,
  whereabouts: Whereabouts,
  nowMs: number,
): Ahead | null {
  if (route.stations.length === 0) return null
  const next = nextStations(route, whereabouts, nowMs)
  if (next.length > 0) return { is: 'stations', next }
  const { walked, here } = whereabouts
  if (kmAlong(measuredOf(route), walked, here) !== null) return { is: 'end' }
  const back = wayToRoute(measuredOf(route), walked, here)
  return back === null ? null : { is: 'off', ...back }
}

type PlaceAlong = NonNullable<Route['places']>[number]

/** The next place of each kind. */
export const placesAhead = (
  route: Pick<Route, 'lines' | 'km' | 'places'>,
  { walked, here }: Omit<Whereabouts, 'kmh'>,
): PlaceAhead<PlaceAlong>[] => nextOfEachKind(measuredOf(route), route.places ?? [], walked, here)

interface Whereabouts {
  readonly walked: readonly TimedPlace[]
  readonly here: TimedPlace
  readonly kmh: number | null
}

/** The last hours of the way as this device recorded them; offline, the service does not know them yet. */
export interface Trail {
  /** Its owner: another pilgrim may continue on this device. */
  readonly userId: string
  /** Places in the order of time. */
  readonly places: readonly TimedPlace[]
}

/** Slightly longer than the window of the pace. */
const KEPT_MS = 4 * 3_600_000
/** One place per interval is enough for a walk, and limits writes. */
const EVERY_MS = 60_000

/** Adds a place to the trail. A clock that was set back starts a new one. */
export function trailAfter(trail: Trail, userId: string, { t, lat, lng }: TimedPlace): Trail {
  const last = trail.userId === userId ? trail.places.at(-1) : undefined
  if (last === undefined || last.t - t > CLOCK_TOLERANCE_MS) return { userId, places: [{ t, lat, lng }] }
  if (t - last.t < EVERY_MS) return trail
  return { userId, places: [...trail.places.filter((one) => t - one.t <= KEPT_MS), { t, lat, lng }] }
}

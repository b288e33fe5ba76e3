/** The next stations of the route, and when the pilgrim reaches them at their own pace. Pure functions. */
import {
  kmAlong,
  measureRoute,
  type MeasuredRoute,
  stationsAhead,
  unpackLines,
} from '#shared/rules/along-route.ts'
import { metresBetween } from '../recording/position-filter.ts'
import type { Route } from './own-way.ts'

interface TimedPlace {
  readonly lat: number
  readonly lng: number
  /** Epoch milliseconds. */
  readonly t: number
}
export type Station = Route['stations'][number]
export interface NextStation {
  readonly station: Station
  /** Along the route. */
  readonly km: number
  /** Epoch milliseconds; null: the pace is not known. */
  readonly atMs: number | null
}

/** The pace is that of the last hours; a rest belongs to it. */
const PACE_MS = 3 * 3_600_000
const MIN_PACE_MS = 20 * 60_000
/** Faster is no walk. */
const MAX_KMH = 15
const MOST = 3

const measured = new WeakMap<object, MeasuredRoute>()
const measuredOf = (route: Pick<Route, 'lines' | 'km'>): MeasuredRoute => {
  const held = measured.get(route) ?? measureRoute(unpackLines(route.lines), route.km)
  measured.set(route, held)
  return held
}

/** Mean speed of the last three hours on the way, rests included, in km/h; null: too little is known. */
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
 * @param walked the way so far, in the order of time
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

export interface Whereabouts {
  readonly walked: readonly TimedPlace[]
  readonly here: TimedPlace
  readonly kmh: number | null
}

/** The route as it is shown: simplified lines in whole units, which pages get, and by which distances are told. */
import { METRES_PER_DEGREE, simplifyLine } from '#shared/core/rules/geo.ts'
import { type MeasuredRoute, measureRoute, unpackLines } from '#shared/core/rules/along-route.ts'
import { roundKm } from '#shared/core/rules/rounding.ts'
import type { Place, Route } from './walking-route.ts'

interface ShownRoute {
  /** Each line as a flat list: its first place in 1e-5 degrees, then the differences. */
  readonly lines: number[][]
  readonly km: number
}

const TOLERANCE_M = 10

const shown = new WeakMap<Route, ShownRoute>()
const measured = new WeakMap<Route, MeasuredRoute>()

export const shownRoute = (route: Route): ShownRoute =>
  shown.getOrInsertComputed(route, () => ({
    lines: route.lines.map(flatLine),
    km: roundKm(route.lengthM * 1_000),
  }))

/** The same lines as they are measured by everybody who gets them. */
export const measuredRoute = (route: Route): MeasuredRoute =>
  measured.getOrInsertComputed(route, () => {
    const { lines, km } = shownRoute(route)
    return measureRoute(unpackLines(lines), km)
  })

/** The simplified line as differences of 1e-5 degrees. */
function flatLine(line: readonly Place[]): number[] {
  const shrink = Math.cos((line[0]!.lat * Math.PI) / 180)
  const placed = line.map(({ lat, lng }) => ({
    x: lng * shrink * METRES_PER_DEGREE,
    y: lat * METRES_PER_DEGREE,
    lat: Math.round(lat * 1e5),
    lng: Math.round(lng * 1e5),
  }))
  let [lastLat, lastLng] = [0, 0]
  return simplifyLine(placed, TOLERANCE_M).flatMap(({ lat, lng }) => {
    const step = [lat - lastLat, lng - lastLng]
    ;[lastLat, lastLng] = [lat, lng]
    return step
  })
}

/**
 * The points of a route as the owner edits them, and the part of a route that fits into a request. Pure
 * functions.
 */
import type { PlaceKind, RoutePart } from '#shared/contracts/event-settings.ts'
import { flatLine } from '#shared/core/map/walking-route.ts'
import { unpackLines } from '#shared/core/rules/along-route.ts'
import type { Place } from '#shared/core/rules/geo.ts'
import { withoutEmpty } from './without-empty.ts'

/** Limits of the service. */
export const MAX_STATIONS = 200
export const MAX_PLACES = 200

type Station = RoutePart['stations'][number]
type PlaceAlong = RoutePart['places'][number]
type Points = Pick<RoutePart, 'stations' | 'places'>

/** Empty: a station. */
export type PointKind = PlaceKind | ''

/** A station or a place. It has the fields of both, so a change of its kind loses none. */
export type RoutePoint = Readonly<Station & Omit<PlaceAlong, 'kind'>> & { readonly kind: PointKind }

export const pointsOf = ({ stations, places }: Points): RoutePoint[] => [
  ...stations.map((station) => ({ ...station, kind: '' as const, hours: null })),
  ...places.map((place) => ({ ...place, km: null, planned_at: null })),
]

const isStation = ({ kind }: Pick<RoutePoint, 'kind'>): boolean => kind === ''

/** The first points up to the limits of a route, and the number of the others. */
export function withinLimits(points: readonly RoutePoint[]): {
  readonly points: readonly RoutePoint[]
  readonly leftOut: number
} {
  let [stations, places] = [0, 0]
  const first = points.filter((point) =>
    isStation(point) ? ++stations <= MAX_STATIONS : ++places <= MAX_PLACES,
  )
  return { points: first, leftOut: points.length - first.length }
}

/** Whether a route has room for another station or place. */
export function roomIn(points: readonly RoutePoint[]) {
  const stations = points.filter(isStation).length
  return { station: stations < MAX_STATIONS, place: points.length - stations < MAX_PLACES }
}

/** Whether a point may change its kind. */
export const mayBecome = (room: ReturnType<typeof roomIn>, from: PointKind, to: PointKind): boolean =>
  isStation({ kind: from }) === isStation({ kind: to }) || (to === '' ? room.station : room.place)

/** A tenth of a metre. */
const roundDegrees = (degrees: number): number => Math.round(degrees * 1e6) / 1e6
const roundMetres = (km: number): number => Math.round(km * 1_000) / 1_000

const common = ({ lat, lng, names }: RoutePoint) => ({
  lat: roundDegrees(lat),
  lng: roundDegrees(lng),
  names: withoutEmpty(names),
})

/** The points as sent: each with only the fields of its kind. */
export const partOf = (points: readonly RoutePoint[]): Points => ({
  stations: points.filter(isStation).map((point) => ({
    ...common(point),
    km: point.km === null ? null : roundMetres(point.km),
    planned_at: point.planned_at,
  })),
  places: points.flatMap((point) =>
    point.kind === '' ? [] : [{ ...common(point), kind: point.kind, hours: point.hours?.trim() || null }],
  ),
})

/** Default limit of the service (`EVENT_BODY_BYTES`), less the request's other fields. */
const MAX_BYTES = 102_400 - 1_000
const MAX_LINE_BYTES = 60_000
/** Tolerances for simplifying a line (m): the smallest that fits into a request is used. */
const TOLERANCES_M = [2, 5, 10, 20, 40, 80]

const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length

/** Lines with as much detail as fits into a request beside the points. */
export function fittingLines(
  lines: readonly (readonly Place[])[],
  points: readonly RoutePoint[],
): RoutePart['lines'] {
  const left = Math.min(MAX_LINE_BYTES, MAX_BYTES - bytesOf(partOf(points)))
  let made: RoutePart['lines'] = []
  for (const metres of TOLERANCES_M) {
    made = lines.map((line) => flatLine(line, metres))
    if (bytesOf(made) <= left) break
  }
  return made
}

/** The part as sent. Its lines have less detail if the points have grown since they were read. */
export function routeToSend(lines: RoutePart['lines'], points: readonly RoutePoint[]) {
  if (lines.length === 0) return { lines, stations: [], places: [] }
  const part = { lines, ...partOf(points) }
  return bytesOf(part) <= MAX_BYTES ? part : { ...part, lines: fittingLines(unpackLines(lines), points) }
}

/** The next stations of the route, and when the pilgrim reaches them at their own pace. Pure functions. */
import { metresBetween } from '../recording/position-filter.ts'

interface Place {
  readonly lat: number
  readonly lng: number
}
interface TimedPlace extends Place {
  /** Epoch milliseconds. */
  readonly t: number
}
export interface Station extends Place {
  readonly name: string
  readonly routeKm: number
}
export interface NextStation {
  readonly name: string
  readonly km: number
  /** Epoch milliseconds; null: the pace is not known. */
  readonly atMs: number | null
}

/** The pace is that of the last hours; a rest belongs to it. */
const PACE_MS = 3 * 3_600_000
const MIN_PACE_MS = 20 * 60_000
/** Faster is no walk. */
const MAX_KMH = 15
/** Who is farther away is not on the route. */
const OFF_ROUTE_M = 2_000

/** The route's lines from their transfer form: latitude and longitude in 1e-5 degrees, then differences. */
export function linesOf(packed: readonly (readonly number[])[]): Place[][] {
  return packed.map((numbers) => {
    const places: Place[] = []
    let [lat, lng] = [0, 0]
    for (let i = 0; i + 1 < numbers.length; i += 2) {
      lat += numbers[i]!
      lng += numbers[i + 1]!
      places.push({ lat: lat / 1e5, lng: lng / 1e5 })
    }
    return places
  })
}

/**
 * Distance from the start of the route to the place on it that is nearest. Of places that are equally near, as where the
 * way back follows the way there, the first one after `afterKm`.
 * @returns null off the route
 */
export function placeOnRoute(
  lines: readonly (readonly Place[])[],
  at: Place,
  afterKm: number,
): number | null {
  let metres = 0
  let best: { off: number; km: number } | null = null
  for (const line of lines)
    for (let i = 1; i < line.length; i++) {
      const [a, b] = [line[i - 1]!, line[i]!]
      const length = metresBetween(a, b)
      const share = shareAlong(a, b, at)
      const off = metresBetween(at, {
        lat: a.lat + (b.lat - a.lat) * share,
        lng: a.lng + (b.lng - a.lng) * share,
      })
      const km = (metres + length * share) / 1_000
      // A little nearer is no reason to be on the way back already.
      if (
        off <= OFF_ROUTE_M &&
        (best === null ||
          off < best.off - (km > afterKm ? 50 : 0) ||
          (best.km < afterKm && km >= afterKm && off < best.off + 50))
      )
        best = { off, km }
      metres += length
    }
  return best?.km ?? null
}

/** The way so far is followed at most so often: a pilgrim is not on the way back before they have been there. */
const FOLLOWED = 40

/**
 * Distance from the start of the route to where somebody is who has walked this line. Where the way back is the way
 * there, the line tells which of both it is.
 * @returns null off the route
 */
export function kmOnRoute(
  lines: readonly (readonly Place[])[],
  walked: readonly Place[],
  here: Place,
): number | null {
  const every = Math.max(1, Math.ceil(walked.length / FOLLOWED))
  let km = 0
  for (let i = 0; i < walked.length; i += every) km = placeOnRoute(lines, walked[i]!, km) ?? km
  return placeOnRoute(lines, here, km)
}

function shareAlong(a: Place, b: Place, at: Place): number {
  const narrow = Math.cos((a.lat * Math.PI) / 180)
  const [x, y] = [(b.lng - a.lng) * narrow, b.lat - a.lat]
  const square = x * x + y * y
  if (square === 0) return 0
  return Math.min(1, Math.max(0, ((at.lng - a.lng) * narrow * x + (at.lat - a.lat) * y) / square))
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

/** The next stations, nearest first. */
export function nextStations(
  stations: readonly Station[],
  hereKm: number,
  kmh: number | null,
  nowMs: number,
  most = 3,
): NextStation[] {
  return stations
    .filter(({ routeKm }) => routeKm > hereKm + 0.05)
    .sort((a, b) => a.routeKm - b.routeKm)
    .slice(0, most)
    .map(({ name, routeKm }) => {
      const km = Math.round((routeKm - hereKm) * 10) / 10
      return { name, km, atMs: kmh === null ? null : nowMs + ((routeKm - hereKm) / kmh) * 3_600_000 }
    })
}

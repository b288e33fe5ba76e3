/** How fast the middle of the walk moves, and when it is expected at the next stations. */
import type { MapPlace, StationEstimate } from '#shared/contracts/map.ts'
import { time } from '#shared/contracts/fields.ts'
import type { End } from '#shared/map/front-and-tail.ts'
import type { Station } from '#shared/map/walking-route.ts'
import { ZERO_EMISSION_KMH } from '#shared/rules/carbon.ts'
import { distanceMm } from '#shared/rules/geo.ts'
import { roundKm } from '#shared/rules/rounding.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** A shorter time tells no speed: the middle moves in steps of cells. */
const LEAST_MS = 15 * MINUTE_MS
/** Slower is a rest, which nobody can foresee the end of. */
const LEAST_KMH = 0.5
const FARTHEST_MS = 12 * HOUR_MS

/** Where the middle was, at a time in epoch milliseconds. */
export interface Sample extends End {
  readonly t: number
  /** It is the middle of those who were seen in the last hours, and not of everybody of the last day. */
  readonly isRecent: boolean
}

/**
 * The samples of the last hour, one a minute, with the middle of now. Those of the other crowd are left out: its middle
 * is elsewhere, and nobody has walked from there.
 */
export function withSample(
  samples: readonly Sample[],
  middle: End | null,
  isRecent: boolean,
  nowMs: number,
): Sample[] {
  const hour = samples.filter((one) => one.t >= nowMs - HOUR_MS && one.isRecent === isRecent)
  const isDue = (hour.at(-1)?.t ?? -Infinity) <= nowMs - MINUTE_MS
  return middle === null || !isDue ? hour : [...hour, { ...middle, t: nowMs, isRecent }]
}

/**
 * km/h with one decimal; null when it is not known. Nobody walks faster than {@link ZERO_EMISSION_KMH}: such a middle was
 * moved by points that came late.
 */
export function speedOf(samples: readonly Sample[], middle: End | null, nowMs: number): number | null {
  const first = samples.find(({ t }) => t >= nowMs - HOUR_MS)
  if (first === undefined || middle === null || nowMs - first.t < LEAST_MS) return null
  const metres =
    first.alongM === null || middle.alongM === null
      ? distanceMm(first, middle) / 1_000
      : middle.alongM - first.alongM
  const kmh = Math.max(0, Math.round((metres / (nowMs - first.t)) * 3_600 * 10) / 10)
  return kmh > ZERO_EMISSION_KMH ? null : kmh
}

/** The stations that the middle has not reached, if it keeps its speed. Whole minutes. */
export function estimatesOf(
  stations: readonly Station[],
  { front, middle, speedKmh }: { front: End | null; middle: End | null; speedKmh: number | null },
  nowMs: number,
): StationEstimate[] {
  const from = middle?.alongM ?? null
  if (from === null || speedKmh === null || speedKmh < LEAST_KMH) return []
  const arrival = (fromM: number, toM: number): number =>
    nowMs + Math.round(((toM - fromM) / 1_000 / speedKmh) * 60) * MINUTE_MS - (nowMs % MINUTE_MS)
  return stations.flatMap(({ alongM }, station) => {
    if (alongM <= from) return []
    const middleMs = arrival(from, alongM)
    if (middleMs > nowMs + FARTHEST_MS) return []
    const ahead = front?.alongM ?? null
    const frontAt = ahead === null || alongM <= ahead ? null : time(arrival(ahead, alongM))
    return [{ station, front_at: frontAt, middle_at: time(middleMs) }]
  })
}

/** A place for the answer. */
export function placeOf(end: End | null, stations: readonly Station[]): MapPlace | null {
  if (end === null) return null
  const { lat, lng, alongM } = end
  return {
    lat: Math.round(lat * 1e5) / 1e5,
    lng: Math.round(lng * 1e5) / 1e5,
    route_km: alongM === null ? null : roundKm(alongM * 1_000),
    station: alongM === null ? null : nearestStation(stations, alongM),
  }
}

function nearestStation(stations: readonly Station[], alongM: number): number | null {
  let nearest: number | null = null
  let least = Infinity
  for (const [i, station] of stations.entries()) {
    const off = Math.abs(station.alongM - alongM)
    if (off < least) [nearest, least] = [i, off]
  }
  return nearest
}

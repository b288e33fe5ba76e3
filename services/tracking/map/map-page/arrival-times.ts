/** How fast the middle of the walk moves, and when it is expected at the next stations. */
import { METRES_PER_DEGREE } from '#shared/core/rules/geo.ts'
import type { MapPlace, StationEstimate } from '#shared/contracts/map.ts'
import { time } from '#shared/contracts/fields.ts'
import type { End } from '#shared/core/map/front-and-tail.ts'
import type { Station } from '#shared/core/map/walking-route.ts'
import { roundKm } from '#shared/core/rules/rounding.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** The latest one of an hour ago is among them. */
const KEPT_MS = HOUR_MS + 2 * MINUTE_MS
/** A quarter. A shorter time tells no speed: the middle moves in steps of cells. */
const LEAST_MS = 15 * MINUTE_MS
/** Slower is a rest, which nobody can foresee the end of. */
const LEAST_KMH = 0.5
/** A fast procession walks at 6 or 7 km/h. */
const MOST_KMH = 8
const MOST_M_PER_MS = (MOST_KMH * 1_000) / HOUR_MS
const FARTHEST_MS = 12 * HOUR_MS
const FARTHEST_MEAN_MS = 72 * HOUR_MS

/** Where the middle was, at a time in epoch milliseconds. */
export interface Sample extends End {
  readonly t: number
  /** Whose: the palanquin's, or the middle of those who were seen in the last hours, or of everybody of the last day. */
  readonly of: 'palanquin' | 'recent' | 'day'
}

/**
 * The samples of the last hour and a little more, one a minute, with the place of now. Those of another crowd are left out: its middle
 * is elsewhere, and nobody has walked from there.
 */
export function withSample(
  samples: readonly Sample[],
  place: End | null,
  of: Sample['of'],
  nowMs: number,
): Sample[] {
  const hour = samples.filter((one) => one.t >= nowMs - KEPT_MS && one.of === of)
  const isDue = (hour.at(-1)?.t ?? -Infinity) <= nowMs - MINUTE_MS
  return place === null || !isDue ? hour : [...hour, { ...place, t: nowMs, of }]
}

/**
 * km/h with one decimal, the mean of the last hour's quarters; null when it is not known. A quarter in which the middle
 * moved faster than {@link MOST_KMH} does not count: it was moved by pilgrims who woke up, or by points that came late.
 */
export function speedOf(samples: readonly Sample[], middle: End | null, nowMs: number): number | null {
  if (middle === null) return null
  let [along, aside, ms] = [0, 0, 0]
  let to = { ...middle, t: nowMs }
  for (let startMs = nowMs - LEAST_MS; startMs >= nowMs - HOUR_MS; startMs -= LEAST_MS) {
    const from = samples.findLast(({ t }) => t <= startMs)
    if (from === undefined) break
    const [x, y] = moveBetween(from, to)
    if (Math.hypot(x, y) / (to.t - from.t) <= MOST_M_PER_MS) {
      along += x
      aside += y
      ms += to.t - from.t
    }
    to = { ...from }
  }
  const metres = middle.alongM === null ? Math.hypot(along, aside) : Math.max(0, along)
  return ms === 0 ? null : Math.round((metres / ms) * 3_600 * 10) / 10
}

/** Metres along the route; where one is off it, to the east and to the north: who goes to and fro walks nowhere. */
const moveBetween = (from: End, to: End): readonly [number, number] =>
  from.alongM === null || to.alongM === null
    ? [
        (to.lng - from.lng) * METRES_PER_DEGREE * Math.cos((to.lat * Math.PI) / 180),
        (to.lat - from.lat) * METRES_PER_DEGREE,
      ]
    : [to.alongM - from.alongM, 0]

interface Walk {
  readonly front: End | null
  /** The palanquin, or the middle of the walk. */
  readonly middle: End | null
  /** The speed of the last hour; null: not known. */
  readonly speedKmh: number | null
  /** When the event began; null: not known. */
  readonly startsMs: number | null
}

/**
 * The times at the stations that the middle has not reached: by its speed; else by the mean of the walk so far, rests
 * included; else as planned. Whole minutes.
 */
export function estimatesOf(
  stations: readonly Station[],
  { front, middle, speedKmh, startsMs }: Walk,
  nowMs: number,
): StationEstimate[] {
  const from = middle?.alongM ?? null
  if (from === null) return []
  const walkedMs = startsMs === null ? 0 : nowMs - startsMs
  const paces = [
    { by: 'speed', kmh: speedKmh ?? 0, farthestMs: FARTHEST_MS },
    {
      by: 'mean',
      kmh: walkedMs < HOUR_MS ? 0 : from / 1_000 / (walkedMs / HOUR_MS),
      farthestMs: FARTHEST_MEAN_MS,
    },
  ] as const
  return stations.flatMap(({ alongM, plannedMs }, station): StationEstimate[] => {
    if (alongM <= from) return []
    const ahead = front?.alongM ?? null
    const hasPassed = ahead === null || alongM <= ahead
    const arrival = (fromM: number, kmh: number): number =>
      nowMs + Math.round(((alongM - fromM) / 1_000 / kmh) * 60) * MINUTE_MS - (nowMs % MINUTE_MS)
    const pace = paces.find(
      ({ kmh, farthestMs }) => kmh >= LEAST_KMH && arrival(from, kmh) <= nowMs + farthestMs,
    )
    if (pace !== undefined)
      return [
        {
          station,
          front_at: hasPassed ? null : time(arrival(ahead, pace.kmh)),
          middle_at: time(arrival(from, pace.kmh)),
          by: pace.by,
        },
      ]
    if (plannedMs === undefined || plannedMs <= nowMs) return []
    return [{ station, front_at: hasPassed ? null : time(plannedMs), middle_at: time(plannedMs), by: 'plan' }]
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

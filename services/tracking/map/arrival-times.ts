/** The speed of the middle of the walk, and its expected arrival at the next stations. */
import { METRES_PER_DEGREE } from '#shared/core/rules/geo.ts'
import type { MapPlace, StationEstimate } from '#shared/contracts/map.ts'
import { time } from '#shared/contracts/fields.ts'
import type { End } from '#shared/core/map/front-and-tail.ts'
import type { Station } from '#shared/core/map/walking-route.ts'
import { roundKm } from '#shared/core/rules/rounding.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Window over which the pace is computed, including short rests. */
const STRETCH_MS = 3 * HOUR_MS
const SAMPLE_MS = 5 * MINUTE_MS
/** Covers the window and the latest sample before it. */
const KEPT_MS = STRETCH_MS + 2 * SAMPLE_MS
/** Minimum time for a speed: the middle moves in steps of cells, so shorter times are too coarse. */
const LEAST_MS = 15 * MINUTE_MS
/** Below this speed the group is resting; no arrival time is predicted. */
const LEAST_KMH = 0.5
/** Upper bound: a fast procession walks at 6 or 7 km/h. */
const MOST_KMH = 8
const MOST_M_PER_MS = (MOST_KMH * 1_000) / HOUR_MS
/** A pace predicts at most this many times the period it was measured over. */
const STRETCHES_AHEAD = 4
const FARTHEST_MEAN_MS = 72 * HOUR_MS

/** The middle at a time in epoch milliseconds. */
export interface Sample extends End {
  readonly t: number
  /** Source: the palanquin, or the middle of pilgrims seen in the last hours, or of all of the last day. */
  readonly of: 'palanquin' | 'recent' | 'day'
}

/**
 * The samples of the last hours, one per five minutes, plus the current place. Samples with another source are dropped:
 * their middle is elsewhere.
 */
export function withSample(
  samples: readonly Sample[],
  place: End | null,
  of: Sample['of'],
  nowMs: number,
): Sample[] {
  const kept = samples.filter((sample) => sample.t >= nowMs - KEPT_MS && sample.of === of)
  const isDue = (kept.at(-1)?.t ?? -Infinity) <= nowMs - SAMPLE_MS
  return place === null || !isDue ? kept : [...kept, { ...place, t: nowMs, of }]
}

/**
 * The fronts of the last hour that no later one has reached, plus the current one; the first is the farthest. The front
 * of the walk is the farthest recent one: the current one moves back when leading pilgrims rest and their phones stop
 * sending.
 */
export function withFront(fronts: readonly Front[], front: End | null, nowMs: number): Front[] {
  const ahead = fronts.filter(
    ({ t, alongM }) => t >= nowMs - HOUR_MS && (front === null || alongM! > front.alongM!),
  )
  return front?.alongM == null ? ahead : [...ahead, { ...front, t: nowMs }]
}

export type Front = End & { readonly t: number }

/**
 * km/h with one decimal, the mean of the last hour's quarters; null if not known. A quarter in which the middle moved
 * faster than {@link MOST_KMH} is ignored: it was moved by phones that came back, or by late points.
 */
export function speedOf(samples: readonly Sample[], middle: End | null, nowMs: number): number | null {
  const pace = paceOf(samples, middle, nowMs, HOUR_MS)
  return pace === null ? null : Math.round(pace.kmh * 10) / 10
}

interface Pace {
  readonly kmh: number
  /** Period of the measurement. */
  readonly ms: number
}

/** The same over the last quarters of {@link STRETCH_MS}, or fewer; estimates use it. */
export function paceOf(
  samples: readonly Sample[],
  middle: End | null,
  nowMs: number,
  stretchMs = STRETCH_MS,
): Pace | null {
  if (middle === null) return null
  let [along, aside, ms] = [0, 0, 0]
  let to = { ...middle, t: nowMs }
  for (let startMs = nowMs - LEAST_MS; startMs >= nowMs - stretchMs; startMs -= LEAST_MS) {
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
  return ms === 0 ? null : { kmh: (metres / ms) * 3_600, ms }
}

/** Metres along the route; off the route, metres east and north, so that walking to and fro adds up to nothing. */
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
  /** Its speed over some time; null: not known. */
  readonly pace: Pace | null
  /** Start of the event; null: not known. */
  readonly startsMs: number | null
}

/** Rounding of an estimate: five minutes within an hour, else half an hour. */
const stepOf = (awayMs: number): number => (awayMs <= HOUR_MS ? 5 : 30) * MINUTE_MS

/** The previous estimate while it is right within its rounding; else the new one. */
function toldOf(before: string | null | undefined, ms: number, nowMs: number): string {
  const step = stepOf(ms - nowMs)
  return before != null && Math.abs(Date.parse(before) - ms) <= step
    ? before
    : time(Math.round(ms / step) * step)
}

/**
 * Times at the stations that the middle has not reached: by its pace; else by the mean of the walk so far, rests
 * included; else as planned. Estimates are rounded ({@link stepOf}).
 * @param told the previous estimates
 */
export function estimatesOf(
  stations: readonly Station[],
  { front, middle, pace, startsMs }: Walk,
  nowMs: number,
  told: readonly StationEstimate[] = [],
): StationEstimate[] {
  const from = middle?.alongM ?? null
  if (from === null) return []
  const walkedMs = startsMs === null ? 0 : nowMs - startsMs
  const paces = [
    { by: 'speed', kmh: pace?.kmh ?? 0, farthestMs: STRETCHES_AHEAD * (pace?.ms ?? 0) },
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
    const arrival = (fromM: number, kmh: number): number => nowMs + ((alongM - fromM) / 1_000 / kmh) * HOUR_MS
    const found = paces.find(
      ({ kmh, farthestMs }) => kmh >= LEAST_KMH && arrival(from, kmh) <= nowMs + farthestMs,
    )
    if (found !== undefined) {
      const before = told.find((estimate) => estimate.station === station && estimate.by === found.by)
      return [
        {
          station,
          front_at: hasPassed ? null : toldOf(before?.front_at, arrival(ahead, found.kmh), nowMs),
          middle_at: toldOf(before?.middle_at, arrival(from, found.kmh), nowMs),
          by: found.by,
        },
      ]
    }
    if (plannedMs === undefined || plannedMs <= nowMs) return []
    return [{ station, front_at: hasPassed ? null : time(plannedMs), middle_at: time(plannedMs), by: 'plan' }]
  })
}

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

/** Generates points of pilgrims, regular and random. */
import { isNumeric, type Measurement, MEASUREMENTS } from '#shared/contracts/gps-points.ts'
import type { Point } from '#shared/points/point.ts'
import type { Random } from '#tests/helpers/random.ts'
import { NOON } from './flush-harness.ts'

const DAY_MS = 86_400_000
const METRES_PER_DEGREE = 111_195

const valueOf = (name: Measurement, i: number): number | string =>
  isNumeric(name) ? 4.25 * (i + 1) : `${name} "x", {y}`

type Measured<T> = { readonly [M in Measurement]: T }
/** The measurements of a point without any. */
export const NOT_MEASURED = Object.fromEntries(MEASUREMENTS.map((name) => [name, null])) as Measured<null>
/** A different value of each measurement, which float4 holds exactly. */
export const MEASURED = Object.fromEntries(
  MEASUREMENTS.map((name, i) => [name, valueOf(name, i)]),
) as unknown as Pick<Point, Measurement>

/** A track point at noon in the area, with the fields of `more`. */
export function point(more: Partial<Point> = {}): Point {
  const sentMs = more.sentMs ?? more.recordedMs ?? NOON
  return {
    kind: 't',
    sentMs,
    recordedMs: sentMs,
    receivedMs: sentMs + 1_000,
    lat: 24.15,
    lng: 120.67,
    ...NOT_MEASURED,
    inRange: true,
    ...more,
  }
}

/** A walk northward from noon: `minutes` points, one per minute, 80 m apart. */
export const walk = (minutes: number, fromMs = NOON, more: Partial<Point> = {}): Point[] =>
  Array.from({ length: minutes }, (_, i) =>
    point({ sentMs: fromMs + i * 60_000, lat: 24.15 + (i * 80) / METRES_PER_DEGREE, ...more }),
  )

const MODES = [null, null, null, 'walk', 'bike', 'car', 'submarine']

/**
 * A pilgrim's phone over some days, ordered by time: walking, resting, riding, distant wrong fixes, check-ins
 * at the instant of a track point, a clock that is ahead, excursions out of the area.
 */
export function wander(random: Random, count: number, fromMs: number, days: number): Point[] {
  const points: Point[] = []
  const meanMs = (days * DAY_MS) / count
  let { lat, lng } = { lat: 24 + random(), lng: 120.5 + random() / 2 }
  let t = fromMs + Math.floor(random() * 60_000)
  while (points.length < count) {
    const pauseMs = Math.ceil(random() < 0.3 ? random() * 30_000 : random() * 2.5 * meanMs)
    t += pauseMs
    const kmh = random() < 0.2 ? 20 + random() * 80 : random() * 5
    const metres = random() < 0.1 ? 0 : Math.min(kmh * (pauseMs / 3_600_000), 40) * 1_000
    lat += ((random() - 0.5) * metres) / METRES_PER_DEGREE
    lng += ((random() - 0.5) * metres) / METRES_PER_DEGREE
    const isStray = random() < 0.02
    const place = { lat: isStray ? lat + 9 : lat, lng }
    const mode = MODES[Math.floor(random() * MODES.length)]!
    const accuracy = random() < 0.5 ? null : random() * 110
    const more = { mode, accuracy, source: random() < 0.5 ? 'phone' : null, inRange: random() > 0.03 }
    const kind = random() < 0.1 ? 'c' : 't'
    const aheadMs = kind === 'c' && random() < 0.2 ? Math.ceil(random() * DAY_MS) : 0
    points.push(point({ ...place, ...more, kind, sentMs: t + aheadMs, recordedMs: t }))
    if (kind === 'c' && random() < 0.3)
      points.push(point({ ...place, ...more, lat: place.lat + 1e-4, sentMs: t }))
  }
  return points.slice(0, count)
}

/** Mostly in order: some items are late by up to `reach` positions. */
export const jumbled = <T>(random: Random, list: readonly T[], reach: number): T[] =>
  list
    .map((item, i) => ({ item, order: i + (random() < 0.2 ? random() * reach : 0) }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item)

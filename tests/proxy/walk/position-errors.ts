/**
 * Positions with the errors of phones: error models, walks of known length, and the results of the app, the
 * service and the fold.
 */
import {
  EMPTY,
  filterFix,
  type FilterState,
  type Fix,
  isResting,
} from '#proxy/pages/walk/recording/position-filter.ts'
import type { Random } from '#tests/helpers/random.ts'
import { byInstant, totalPoints, START } from '#shared/core/distance/points-to-distance.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import { METRES_PER_DEGREE } from '#shared/core/rules/geo.ts'
import { acceptTrack } from '#shared/points/accept.ts'
import { foldPointOf } from '#shared/points/point.ts'

/** Offset of a position from the true place, metres east and north. */
type Offset = readonly [x: number, y: number]

export interface ErrorModel {
  readonly name: string
  /** The reported accuracy, metres. */
  readonly accuracy: number
  /** The next error, less correlated with the previous one the more time has passed. */
  readonly start: (random: Random) => (elapsedS: number) => Offset
}

function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

/** A Gauss-Markov process on each axis. @param correlationS time in which the correlation falls to 1/e */
const drifting = (name: string, sdM: number, accuracy: number, correlationS: number): ErrorModel => ({
  name,
  accuracy,
  start(random) {
    let [x, y] = [sdM * normal(random), sdM * normal(random)]
    return (elapsedS) => {
      const kept = Math.exp(-elapsedS / correlationS)
      const fresh = sdM * Math.sqrt(1 - kept * kept)
      x = kept * x + fresh * normal(random)
      y = kept * y + fresh * normal(random)
      return [x, y]
    }
  },
})

/** A Wi-Fi position, which jumps between three places. @param stayS mean time at one of them */
const hopping = (name: string, apartM: number, accuracy: number, stayS: number): ErrorModel => ({
  name,
  accuracy,
  start(random) {
    const places: Offset[] = [
      [-apartM / 2, -apartM / 4],
      [apartM / 2, -apartM / 4],
      [0, apartM * (Math.sqrt(0.75) - 0.25)],
    ]
    let place = places[0]!
    return (elapsedS) => {
      if (random() < 1 - Math.exp(-elapsedS / stayS)) place = places[Math.floor(3 * random())]!
      return place
    }
  },
})

/** The five models of a phone at rest. @param correlationS how slowly the errors change */
export const errorModels = (correlationS: number): readonly ErrorModel[] => [
  drifting('open sky', 3, 5, correlationS),
  drifting('outdoors', 5, 10, correlationS),
  drifting('in a house', 10, 20, correlationS),
  drifting('in a temple', 20, 40, correlationS),
  hopping('by Wi-Fi', 40, 60, Math.min(correlationS, 30)),
]

/** A part of a day: walking at a speed or at rest, with or without a signal. */
export interface Leg {
  readonly minutes: number
  /** 0: at rest. */
  readonly kmh: number
  readonly hasSignal: boolean
}

interface Day {
  readonly fixes: readonly Fix[]
  /** True length of the way. */
  readonly km: number
}

const START_MS = Date.parse('2026-04-12T00:00:00Z')
const LAT = 24
const METRES_PER_DEGREE_EAST = METRES_PER_DEGREE * Math.cos((LAT * Math.PI) / 180)

/** How much a country road turns per 100 m, radians. */
const TURNS = 0.3

/** Reports of a walking pilgrim's phone, every `everyS` seconds. */
export function phoneOf(legs: readonly Leg[], model: ErrorModel, random: Random, everyS: number): Day {
  const error = model.start(random)
  const fixes: Fix[] = []
  let [x, y, heading, metres, s] = [0, 0, 2 * Math.PI * random(), 0, 0]
  for (const { minutes, kmh, hasSignal } of legs)
    for (let left = minutes * 60; left > 0; left -= everyS) {
      const step = (kmh / 3.6) * everyS
      // A tunnel is straight: bends without a signal cannot be counted.
      if (hasSignal) heading += TURNS * Math.sqrt(step / 100) * normal(random)
      x += step * Math.sin(heading)
      y += step * Math.cos(heading)
      metres += step
      s += everyS
      const [errorX, errorY] = error(everyS)
      if (!hasSignal) continue
      fixes.push({
        t: START_MS + s * 1_000,
        lat: LAT + (y + errorY) / METRES_PER_DEGREE,
        lng: 120.6 + (x + errorX) / METRES_PER_DEGREE_EAST,
        accuracy: model.accuracy,
        altitude: null,
        speed: null,
      })
    }
  return { fixes, km: metres / 1_000 }
}

/** What the app records. At rest the phone is asked every 30 s. */
export function recordedBy(fixes: readonly Fix[]): readonly Fix[] {
  const recorded: Fix[] = []
  let state: FilterState = EMPTY
  let takenMs = 0
  for (const fix of fixes) {
    if (isResting(state, takenMs) && fix.t - takenMs < 30_000) continue
    const next = filterFix(state, fix)
    state = next.state
    takenMs = fix.t
    recorded.push(...next.record)
  }
  return recorded
}

const calendar = createCalendar('Asia/Taipei')
const KG_PER_MG = 1e-6

/** What the service counts from the positions that the app sends as JSON. */
export function countedOf(fixes: readonly Fix[]): { readonly km: number; readonly carbonKg: number } {
  const sent: unknown[] = JSON.parse(
    JSON.stringify(fixes.map(({ t, ...fields }) => ({ ...fields, timestamp: t, source: 'walk' }))),
  )
  const { points, rejected } = acceptTrack(sent, fixes.at(-1)!.t, {
    calendar,
    area: () => true,
    maxAgeMs: 30 * 86_400_000,
    clearedMs: () => null,
  })
  if (rejected.length > 0) throw new Error(`rejected: ${JSON.stringify(rejected)}`)
  const { totals } = totalPoints(START, points.map(foldPointOf).sort(byInstant), calendar)
  return { km: totals.distanceMm / 1e6, carbonKg: totals.carbonMg * KG_PER_MG }
}

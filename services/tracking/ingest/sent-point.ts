/** A point of a tracker app, in the units of the contract. */
import type { IngestRejection } from '#shared/contracts/ingest.ts'
import type { TrackerApp } from '#shared/contracts/trackers.ts'

/** What a request of an app contains. */
export interface Received {
  /** Points for `acceptTrack`, which validates each. */
  readonly points: readonly unknown[]
  /** Why other points are not taken, one reason for each. */
  readonly refused: readonly IngestRejection[]
}

/** A message without any point, such as the notice that the battery is low. */
export const NO_POINT: Received = { points: [], refused: [] }
export const UNREADABLE: Received = { points: [], refused: ['unreadable'] }

/** The bounds of `Measure`. */
const MOST = 1e9

/** A measurement, as a number or in digits; null when it is missing, not a number, or below `least`. */
export function measured(value: unknown, least = -MOST): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && number >= least && number <= MOST ? number : null
}

/** Metres; 0 and below mean unknown. */
export const accuracyOf = (value: unknown): number | null => measured(value, Number.MIN_VALUE)

const KMH_OF = { kmh: 1, knots: 1.852, metresASecond: 3.6 } as const
export type SpeedUnit = keyof typeof KMH_OF

/** km/h with two digits; below 0 is unknown. */
export function speedOf(value: unknown, unit: SpeedUnit): number | null {
  const given = measured(value, 0)
  return given === null ? null : Math.round(given * KMH_OF[unit] * 100) / 100
}

/** Degrees: a number stays what it is, digits become a number, and anything else is rejected later. */
export const degrees = (value: unknown): unknown => measured(value) ?? value

/** Largest number that is read as epoch seconds; a larger one is milliseconds. (Traccar, OsmAndProtocolDecoder.java) */
const MOST_SECONDS = 2 ** 31 - 1
const DIGITS = /^\d+(\.\d+)?$/
const DATE_AND_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/

/** A time in the contract's form: epoch seconds become milliseconds, `YYYY-MM-DD HH:MM:SS` is UTC. */
export function timeOf(value: unknown): unknown {
  if (typeof value === 'number') return value <= MOST_SECONDS ? value * 1_000 : value
  if (typeof value !== 'string') return value
  if (DIGITS.test(value)) return timeOf(Number(value))
  return DATE_AND_TIME.test(value) ? `${value.replace(' ', 'T')}Z` : value
}

interface Fields {
  readonly lat: unknown
  readonly lng: unknown
  readonly timestamp: unknown
  readonly accuracy: number | null
  readonly altitude: number | null
  readonly speed: number | null
}

/** The point with the app as its source. */
export const sentPoint = (source: TrackerApp, fields: Fields) => ({ ...fields, source })

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

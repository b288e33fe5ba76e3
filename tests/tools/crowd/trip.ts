/**
 * A pilgrim's trip: a generator of actions in order of time. Its state is small, whatever the trip's length.
 */
import type { Act, Deed, Fix } from './acts.ts'
import type { Random } from '#tests/helpers/random.ts'
import type { Person } from './person.ts'
import { DAY_S, hourOf } from './procession.ts'
import { moved, type Way } from './way.ts'

const DEAD_ZONES: readonly (readonly [fromKm: number, toKm: number])[] = [
  [17.5, 20],
  [31, 34.5],
  [56, 58.5],
  [104.5, 108],
  [122.5, 127],
  [159, 164],
  [183, 191],
  [210, 220],
  [262, 267],
  [288, 294.5],
]

/** Whether a phone has a network at a kilometre. */
const hasNetwork = (km: number): boolean => DEAD_ZONES.every(([fromKm, toKm]) => km < fromKm || km >= toKm)

/** Seconds between two positions of a resting phone. */
const RESTING_S = 600
/** Seconds between two positions before the detailed part of a demo: moving, and at rest. */
const SPARSE_S = { moving: 1_200, resting: 7_200 }

/**
 * Before a time (seconds since the departure) phones measure few positions; in a large crowd fewer by the
 * factor `thinner`.
 */
export interface Sparse {
  readonly untilS: number
  readonly thinner: number
}

export interface Trip {
  readonly person: Person
  readonly random: Random
  readonly way: Way
  readonly sparse: Sparse
  atS: number
  km: number
  /** Kilometres moved, in either direction. */
  movedKm: number
  isOnline: boolean
  /** Whether the pilgrim is at a place with a network, such as the temple where they sleep. */
  isAtBase: boolean
  nextSyncS: number
  measuredS: number
  lastSleepS: number
  /** Slowly changing error of the position, metres east and north. */
  east: number
  north: number
}

export const createTrip = (person: Person, random: Random, way: Way, sparse: Sparse): Trip => ({
  person,
  random,
  way,
  sparse,
  atS: person.joinS,
  km: person.joinKm,
  movedKm: 0,
  isOnline: true,
  isAtBase: false,
  nextSyncS: person.joinS,
  measuredS: -Infinity,
  lastSleepS: person.joinS - DAY_S / 2,
  east: 0,
  north: 0,
})

export const act = ({ person, atS }: Trip, deed: Deed): Act => ({ atS, who: person.who, deed })

/** Whether the phone's battery is empty. */
export const isDead = ({ person, atS, isAtBase }: Trip): boolean =>
  !isAtBase && hourOf(atS) >= person.batteryHour

/** Standard deviation of the position's error, metres, and how much of it the next position inherits. */
const ERROR_M = 6
const KEEPS = 0.96

/** The position measured by the phone, with the time of its clock. */
export function fixOf(trip: Trip, mode?: Fix['mode']): Fix {
  const { random } = trip
  const gust = ERROR_M * Math.sqrt((1 - KEEPS * KEEPS) * 3)
  trip.east = KEEPS * trip.east + (2 * random() - 1) * gust
  trip.north = KEEPS * trip.north + (2 * random() - 1) * gust
  const accuracy = Math.round(4 + 9 * random())
  return { ...lastPlaceOf(trip), accuracy, ...(mode === undefined ? {} : { mode }) }
}

/** The phone's position without measuring again. */
export function lastPlaceOf({ person, way, km, east, north, atS }: Trip): Fix {
  const { lat, lng } = moved(way.at(km, person.sideM), east, north)
  const { offsetS, untilS } = person.clock
  return {
    lat: Number(lat.toFixed(6)),
    lng: Number(lng.toFixed(6)),
    clockS: atS + (atS < untilS ? offsetS : 0),
    accuracy: ERROR_M,
  }
}

/** The phone finds or loses the network, and syncs when it is due. */
export function* connect(trip: Trip): Generator<Act> {
  const { person, atS, km, isAtBase } = trip
  const online = isAtBase || (!person.isOfflineByDay && hasNetwork(km) && !isDead(trip))
  if (online !== trip.isOnline) {
    trip.isOnline = online
    yield act(trip, { kind: 'network', online })
    if (online) trip.nextSyncS = atS
  }
  if (online && atS >= trip.nextSyncS) {
    trip.nextSyncS = atS + person.syncS
    yield act(trip, { kind: 'sync' })
  }
}

/** Seconds to the next position. */
const stepOf = ({ atS, sparse: { untilS, thinner } }: Trip, sparseS: number, detailedS: number): number =>
  atS < untilS ? sparseS * thinner : detailedS

/** Measures a position, unless the battery is empty, or a large crowd's history has one close in time. */
function* measure(trip: Trip, mode?: Fix['mode']): Generator<Act> {
  const { atS, measuredS, sparse } = trip
  const isThin = sparse.thinner > 1 && atS < sparse.untilS
  if (isDead(trip) || (isThin && atS - measuredS < SPARSE_S.moving * sparse.thinner)) return
  trip.measuredS = atS
  yield act(trip, { kind: 'point', fix: fixOf(trip, mode) })
}

/** Moves to a kilometre, forward or back, and measures positions on the way. */
export function* move(trip: Trip, toKm: number, kmh: number, mode?: Fix['mode']): Generator<Act> {
  const { person } = trip
  while (trip.km !== toKm) {
    const detailedS = mode === undefined ? person.everyS : Math.min(person.everyS, 60)
    const stepS = stepOf(trip, SPARSE_S.moving, detailedS)
    const leftKm = Math.abs(toKm - trip.km)
    const stepKm = Math.min((kmh * stepS) / 3_600, leftKm)
    trip.atS += Math.max(1, Math.round((stepKm / kmh) * 3_600))
    trip.km = stepKm === leftKm ? toKm : trip.km + Math.sign(toKm - trip.km) * stepKm
    trip.movedKm += stepKm
    yield* measure(trip, mode)
    yield* connect(trip)
  }
}

/** Stays at a place. */
export function* stay(trip: Trip, seconds: number): Generator<Act> {
  const endS = trip.atS + Math.ceil(seconds)
  while (trip.atS < endS) {
    const stepS = stepOf(trip, SPARSE_S.resting, RESTING_S)
    trip.atS = Math.min(trip.atS + stepS, endS)
    yield* measure(trip)
    yield* connect(trip)
  }
}

/** Sleeps where there is power and a network; the phone records nothing until the morning. */
export function* sleep(trip: Trip, untilS: number): Generator<Act> {
  trip.isAtBase = true
  yield* connect(trip)
  yield act(trip, { kind: 'sync' })
  trip.atS = Math.max(trip.atS + 60, Math.round(untilS))
  trip.lastSleepS = trip.atS
  yield* connect(trip)
  trip.isAtBase = false
}

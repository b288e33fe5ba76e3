/**
 * A pilgrim's actions from joining to going home: walk, rest, sleep, take a bus, check in, answer, complain.
 */
import type { Act, Deed, Reported } from './acts.ts'
import type { Random } from '#tests/helpers/random.ts'
import type { Person } from './person.ts'
import { DAY_S, HOUR_S, hourOf, passesAtS, processionKm, WALK_S } from './procession.ts'
import {
  createTrip,
  move,
  sleep,
  type Sparse,
  stay,
  type Trip,
  act,
  connect,
  fixOf,
  isDead,
  lastPlaceOf,
} from './trip.ts'
import type { Way } from './way.ts'
import { FEEDBACK, QUESTIONS, SUGGESTIONS, SURVEY, TRACKERS } from './talk.ts'

const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)]!

/** The first minutes: the profile, consent, following the bot, the first check-in. */
function* arrive(trip: Trip): Generator<Act> {
  const { person, random } = trip
  yield act(trip, { kind: 'profile', name: person.name, language: person.language })
  if (random() < 0.97) yield act(trip, { kind: 'consent', agreed: true })
  if (person.follows) yield act(trip, { kind: 'line', event: 'follow' })
  if (random() < 0.3) yield act(trip, { kind: 'phone-number', phone: phoneOf(random) })
  if (person.who % 12 === 5) yield act(trip, { kind: 'share' })
  if (person.who % 25 === 7)
    yield act(trip, { kind: 'tracker', label: TRACKERS[person.who % TRACKERS.length]! })
  trip.atS += 20
  yield* checkIn(trip)
  yield* connect(trip)
}

const phoneOf = (random: Random): string =>
  `09${Array.from({ length: 8 }, () => Math.floor(random() * 10)).join('')}`

function* checkIn(trip: Trip): Generator<Act> {
  if (isDead(trip)) return
  // Some phones repeat requests that were answered, but not rejected ones.
  const isAgain = trip.random() < 0.04
  const fix = fixOf(trip)
  const isRefused = Math.abs(fix.clockS - trip.atS) >= DAY_S
  yield act(trip, { kind: 'check-in', fix, times: isAgain && !isRefused ? 2 : 1 })
}

/** The actions at a station, minutes apart. */
function* atStation(trip: Trip): Generator<Act> {
  const { person, random } = trip
  let wanted = person.zeal
  while (random() < wanted--) {
    yield* checkIn(trip)
    trip.atS += 240 + Math.round(300 * random())
    yield* connect(trip)
  }
  for (const deed of deedsAt(trip)) {
    trip.atS += 30 + Math.round(60 * random())
    yield act(trip, deed)
  }
}

function* deedsAt(trip: Trip): Generator<Deed> {
  const { person, random, atS } = trip
  if (person.follows && random() < 0.25) yield { kind: 'line', event: 'photo' }
  if (person.follows && random() < 0.12)
    yield {
      kind: 'line',
      event: 'text',
      text: pick(random, QUESTIONS[person.language] ?? QUESTIONS['zh-TW']),
    }
  if (random() < 0.02) {
    const [category, description] = pick(random, FEEDBACK)
    const screenshot = random() < 0.4 ? Math.floor(random() * 2 ** 32) : null
    yield { kind: 'feedback', category, description, screenshot, fix: lastPlaceOf(trip) }
  }
  if (random() < 0.06) yield { kind: 'reported', reported: reportOf(random, (atS - person.joinS) / DAY_S) }
}

const reportOf = (random: Random, days: number): Reported => ({
  consumption: {
    water: Math.round((1 + 4 * random()) * (days + 1)),
    recycle: Math.round(3 * random() * (days + 1)),
    hotel: Math.round(random() * days),
  },
  transport: { train: Math.round(150 * random()) },
})

/** The last actions: the survey, the status, and the phone's queue. */
function* goHome(trip: Trip): Generator<Act> {
  const { person, random, way } = trip
  if (person.withdraws) yield act(trip, { kind: 'status', status: 'withdrawn' })
  else if (trip.km >= way.lengthKm) yield act(trip, { kind: 'status', status: 'completed' })
  trip.atS += 300
  if (random() < 0.6) yield act(trip, { kind: 'survey', answers: answersOf(random) })
  yield* sleep(trip, trip.atS + 600)
}

const answersOf = (random: Random): Extract<Deed, { kind: 'survey' }>['answers'] => ({
  q1: pick(random, SURVEY.q1),
  q2: pick(random, SURVEY.q2),
  q3: SURVEY.q3.filter(() => random() < 0.4),
  q4: pick(random, SURVEY.q4),
  q5: [pick(random, SURVEY.q5)],
  q6: [pick(random, SURVEY.q6)],
  q7: pick(random, SURVEY.q7),
  q8: pick(random, SURVEY.q8),
  q9: pick(random, SURVEY.q9),
  q10: pick(random, SUGGESTIONS),
})

/** The latest time on the way, relative to the procession's end. */
const LATEST_S = WALK_S + 6 * HOUR_S
/** Riders this far behind take a bus. */
const BEHIND_KM = 10
/** Walkers this far behind go home. */
const LOST_KM = 45
/** Pilgrims this far ahead wait for the procession. */
const AHEAD_KM = 4

/** The trip of a pilgrim; `walked` receives the kilometres at its end. */
export function* pilgrimage(
  person: Person,
  random: Random,
  way: Way,
  sparse: Sparse,
  walked: (km: number) => void,
): Generator<Act> {
  const trip = createTrip(person, random, way, sparse)
  yield* arrive(trip)
  while (trip.km < person.leaveKm && trip.atS < LATEST_S) {
    if (behindKm(trip) > LOST_KM && person.manner === 'walker') break
    yield* onwards(trip)
    yield* atStation(trip)
    if (trip.km >= person.leaveKm) break
    yield* rest(trip)
  }
  yield* goHome(trip)
  walked(trip.movedKm)
}

const behindKm = ({ atS, km, way }: Trip): number => processionKm(atS, way) - km

/** To the next station, on foot, by bus or by scooter. */
function* onwards(trip: Trip): Generator<Act> {
  const { person, random, way } = trip
  const ahead = way.stations.filter(({ km }) => km > trip.km + 0.01)
  const next = Math.min(ahead[0]?.km ?? way.lengthKm, person.leaveKm)
  if (person.manner === 'support') {
    yield* move(trip, next, person.paceKmh, 'scooter')
    // Back to those who are behind, and forward again.
    if (random() < 0.35) {
      yield* move(trip, Math.max(0, next - 3 - 6 * random()), person.paceKmh, 'scooter')
      yield* stay(trip, 600)
      yield* move(trip, next, person.paceKmh, 'scooter')
    }
    return
  }
  if (person.manner === 'rider' && behindKm(trip) > BEHIND_KM) {
    const near = ahead.filter(({ km }) => km <= processionKm(trip.atS, way) + 2).at(-1)
    const named = random() < 0.6 ? 'bus' : undefined
    yield* move(trip, Math.min(near?.km ?? next, person.leaveKm), 28 + 14 * random(), named)
    return
  }
  const paceKmh = person.paceKmh * (0.85 + 0.25 * random())
  const halfwayKm = trip.km + (next - trip.km) * (0.3 + 0.4 * random())
  if (next - trip.km > 5) {
    yield* move(trip, halfwayKm, paceKmh)
    yield* stay(trip, 180 + 900 * random())
  }
  yield* move(trip, next, paceKmh)
}

/** A rest at a station: short when behind, long when ahead, with sleep at night or by day. */
function* rest(trip: Trip): Generator<Act> {
  const { person, random, way } = trip
  if (isSleepy(trip)) {
    yield* sleep(trip, wakesAtS(trip))
    return
  }
  const aheadKm = -behindKm(trip)
  const minutes = aheadKm < -6 ? 3 + 6 * random() : 8 + 30 * random()
  yield* stay(trip, minutes * 60)
  if (aheadKm <= AHEAD_KM && trip.km !== way.turnKm) return
  const passesS = passesAtS(Math.min(trip.km + 0.5, way.lengthKm), way) + (random() - 0.5) * 2 * HOUR_S
  while (trip.atS < passesS) {
    if (isSleepy(trip)) yield* sleep(trip, Math.min(wakesAtS(trip), Math.max(passesS, trip.atS + 60)))
    else yield* stay(trip, Math.min(passesS - trip.atS, HOUR_S))
  }
  if (person.isNightWalker) trip.lastSleepS = Math.max(trip.lastSleepS, trip.atS - 10 * HOUR_S)
}

function isSleepy({ person, atS, lastSleepS }: Trip): boolean {
  const hour = hourOf(atS)
  if (atS - lastSleepS < 11 * HOUR_S) return false
  return person.isNightWalker ? hour >= 9 && hour < 15 : hour >= 20 || hour < 3
}

/** Half past three to half past five in the morning; night walkers sleep four to six hours by day. */
function wakesAtS({ person, random, atS }: Trip): number {
  if (person.isNightWalker) return atS + (4 + 2 * random()) * HOUR_S
  const midnightS = Math.floor(atS / DAY_S + 0.5) * DAY_S
  return midnightS + (3.5 + 2 * random()) * HOUR_S
}

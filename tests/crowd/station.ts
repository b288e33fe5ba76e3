/** What pilgrims do at a station: check in, send photos, write to the bot, report, answer the survey, go home. */
import type { Act, Deed, Reported } from './acts.ts'
import type { Random } from './person.ts'
import { DAY_S } from './procession.ts'
import { FEEDBACK, QUESTIONS, SUGGESTIONS, SURVEY, TRACKERS } from './talk.ts'
import { act, connect, fixOf, isDead, lastPlaceOf, sleep, type Trip } from './trip.ts'

const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)]!

/** The first minutes: the profile, consent, following the bot, the first check-in. */
export function* arrive(trip: Trip): Generator<Act> {
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
  // Some phones send again what was answered. What was refused, they do not.
  const isAgain = trip.random() < 0.04
  const fix = fixOf(trip)
  const isRefused = Math.abs(fix.clockS - trip.atS) >= DAY_S
  yield act(trip, { kind: 'check-in', fix, times: isAgain && !isRefused ? 2 : 1 })
}

/** The deeds at a station, minutes apart. */
export function* atStation(trip: Trip): Generator<Act> {
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

/** The last deeds: the survey, the status, and what the phone still holds. */
export function* goHome(trip: Trip): Generator<Act> {
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

/** The demo's crowd against the embedded run: every report shows what the simulation knows. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createCrowd, type Crowd } from './crowd.ts'
import { type LinePlatform, startLinePlatform } from './line-platform.ts'
import { DAY_S, HOUR_S } from './procession.ts'
import { runCrowd } from './run-crowd.ts'
import { createTally } from './tally.ts'
import { chooseTimetable } from './timetable.ts'
import { readWay, ROUTE_FILE } from './way.ts'
import { type Answer, type Client, createClient, type Data } from '#shared/client/index.ts'
import { type Embedded, startMigratedEmbedded } from '#tests/helpers/embedded.ts'
import { until } from '#tests/helpers/wait.ts'
import { dayOf, Known, KG_PER_KM, nearestKm } from './expected-figures.ts'

const TOKEN = 'token-of-the-owner'
const TIMEOUT_MS = 120_000
const PILGRIMS = 40
/** The seventh day, when some are home and others walk. The last hours have every step. */
const END_S = 6 * DAY_S + 15 * HOUR_S
const MANY = '1000000'
const ALL = { maxPoints: Infinity, pointsOnly: false }

const way = readWay()
const nowMs = Date.now()
const FROM_S = END_S - HOUR_S / 2
const timetable = { ...chooseTimetable('whole', Infinity, nowMs), fromS: FROM_S }
const tally = createTally()
const options = { pilgrims: PILGRIMS, seed: 8, way, sparseUntilS: FROM_S }

/** A crowd whose walk ends early. */
function crowdUntil(endS: number): Crowd {
  const crowd = createCrowd(options)
  return {
    ...crowd,
    *acts() {
      for (const act of crowd.acts()) {
        if (act.atS > endS) return
        yield act
      }
    },
  }
}

let service: Embedded
let line: LinePlatform
let operator: Client
const simulated = crowdUntil(END_S)
const everybody = simulated.people.map((person) => new Known(person, timetable.departureMs, nowMs))
for (const act of simulated.acts()) everybody[act.who]!.take(act)
/** Some join later. */
const known = everybody.filter(({ name }) => name !== null)

const sumOf = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((sum, item) => sum + of(item), 0)
const sum = (of: (pilgrim: Known) => number): number => sumOf(known, of)

async function read<T>(answer: Promise<Answer<T>>): Promise<T> {
  const given = await answer
  if (!given.ok) throw new Error(`${given.error.code}: ${given.error.message}`)
  return given.data
}

beforeAll(async () => {
  line = startLinePlatform('https://localhost:8443/api/event/webhook')
  const crowd = crowdUntil(END_S)
  for (const { userId, name, language } of crowd.people) line.know(userId, { displayName: name, language })
  service = await startMigratedEmbedded({
    EVENT_ROUTE: ROUTE_FILE,
    EVENT_ADMIN_TOKEN: TOKEN,
    EVENT_FLUSH_SECONDS: '1',
    EVENT_LIMIT_CHECKIN: MANY,
    EVENT_LIMIT_SYNC: MANY,
    EVENT_LIMIT_SURVEY: MANY,
    EVENT_LIMIT_USER_WRITE: MANY,
    EVENT_LIMIT_ADMIN: MANY,
    LINE_CHANNEL_SECRET: line.secret,
    LINE_CHANNEL_ACCESS_TOKEN: line.token,
    LINE_API_BASE_URL: line.url,
    LINE_DATA_API_BASE_URL: line.url,
  })
  const ca = await Bun.file(service.caFile).text()
  const trusting = (url: string, init: RequestInit) => fetch(url, { ...init, tls: { ca } } as RequestInit)
  operator = createClient({ baseUrl: service.url, fetch: trusting, token: TOKEN })
  const { signal } = new AbortController()
  const passed = () => undefined
  const target = { baseUrl: service.url, fetch: trusting, lineSecret: line.secret }
  await runCrowd({ crowd, timetable, ...target, tally, ...ALL, signal, passed })
  const stored = sum(({ points }) => points.size)
  await until(
    async () => {
      const ledger = await read(operator.readLedger())
      return ledger.stored >= stored && ledger.pending === 0 && ledger.in_flight === 0
    },
    { timeoutMs: 30_000, what: 'the flush' },
  )
}, TIMEOUT_MS)
afterAll(async () => {
  await service.stop()
  service.remove()
  await line.stop()
})

test('every kind of person and of trouble is in this crowd', () => {
  expect(known.length).toBeGreaterThan(PILGRIMS * 0.9)
  expect(new Set(known.map(({ level }) => level)).size).toBeGreaterThanOrEqual(8)
  expect(new Set(known.map(({ status }) => status)).size).toBeGreaterThanOrEqual(2)
  expect(new Set(known.flatMap((one) => one.segments().map(({ mode }) => mode)))).toEqual(
    new Set(['walk', 'bus', 'scooter']),
  )
  for (const of of [
    ({ rejected }: Known) => rejected.size,
    ({ duplicates }: Known) => duplicates,
    ({ photos }: Known) => photos,
    ({ surveys }: Known) => surveys.length,
    ({ feedback }: Known) => feedback.filter(({ hasScreenshot }) => hasScreenshot).length,
  ])
    expect(sum(of)).toBeGreaterThan(0)
})

test('per person: kilometres, check-ins, level, status, survey', async () => {
  const { items } = await read(operator.listUsers({ limit: 200 }))
  expect(items.length).toBe(known.length)
  const rows = new Map(items.map((row) => [row.userId, row]))
  for (const pilgrim of known) {
    const row = rows.get(pilgrim.person.userId)!
    // Shown rounded down to 10 m; a segment's millimetre may be rounded the other way.
    expect(Math.abs(row.km - (pilgrim.mm - 5_000) / 1e6)).toBeLessThan(0.0052)
    expect(row).toMatchObject({
      checkins: pilgrim.checkIns,
      level: pilgrim.level,
      participant_status: pilgrim.status,
      survey_completed: pilgrim.surveys.length > 0 ? 1 : 0,
      display_name: pilgrim.name,
    })
    expect(Math.abs(row.carbon_kg - pilgrim.kg)).toBeLessThan(0.002)
  }
})

test('per person: trackers and links', async () => {
  const { items } = await read(operator.listUsers({ limit: 200, with_links: 'true' }))
  const listed = items.map(({ userId }) => userId)
  const active = known.filter(({ status }) => status === 'active')
  const expected = active.filter(({ links }) => links > 0).map(({ person }) => person.userId)
  expect(expected.length).toBeGreaterThan(0)
  expect(active.map(({ person }) => person.userId).filter((id) => listed.includes(id))).toEqual(expected)
})

test('per person: what a phone measures is what they walked', () => {
  const crowd = createCrowd({ ...options, sparseUntilS: 0, pilgrims: 40 })
  const measured = crowd.people.map((person) => new Known(person, timetable.departureMs, nowMs))
  for (const act of crowd.acts()) measured[act.who]!.take(act)
  const compared = measured.filter(
    ({ person, rejected }) => rejected.size === 0 && person.batteryHour === 24 && person.everyS <= 120,
  )
  expect(compared.length).toBeGreaterThan(25)
  for (const pilgrim of compared) {
    const movedKm = crowd.movedKm.get(pilgrim.person.who)!
    // Corners are cut, and a position is some metres off.
    expect(Math.abs(pilgrim.mm / 1e6 / movedKm - 1)).toBeLessThan(0.03)
  }
})

test('photos, phone numbers, consents', async () => {
  for (const { person, photos, agreed, phone } of known) {
    const { userId } = person
    // The bot counts them after it has answered LINE, and of all people in any order.
    await until(async () => (await read(operator.countPhotos({ user_id: userId }))).photo_count === photos, {
      timeoutMs: 20_000,
      what: 'all photos of a person',
    })
    const profile: Data<'readProfile'> = await read(operator.readProfile({ userId }))
    expect(profile).toMatchObject({ photo_count: photos, privacy_agreed: agreed })
    expect(profile.phone?.slice(-2)).toBe(phone?.slice(-2))
  }
  expect(tally.followers).toBe(known.filter(({ follows }) => follows).length)
  await until(() => line.sent >= tally.followers, { timeoutMs: 20_000, what: 'an answer to each follower' })
})

test('carbon: total, by mode, by day, and what people report', async () => {
  const carbon = await read(operator.readCarbon())
  expect(Math.abs(carbon.total_kg - sum(({ kg }) => kg))).toBeLessThan(0.01)
  const segments = known.flatMap((one) => one.segments())
  for (const mode of ['walk', 'bus', 'scooter', 'train']) {
    const reported = mode === 'train' ? sum((one) => one.reported?.transport.train ?? 0) : 0
    const km = sumOf(segments, (segment) => (segment.mode === mode ? segment.mm / 1e6 : 0)) + reported
    expect(Math.abs((carbon.by_mode[mode]?.km ?? 0) - km)).toBeLessThan(0.011)
    expect(Math.abs((carbon.by_mode[mode]?.kg ?? 0) - km * KG_PER_KM[mode]!)).toBeLessThan(0.01)
  }
  for (const what of ['water', 'recycle', 'hotel'] as const)
    expect(carbon.consumption[what]).toBe(sum((one) => one.reported?.consumption[what] ?? 0))
  for (const { day, km } of carbon.by_day) {
    const ofDay = sumOf(segments, ({ t, mm }) => (dayOf(t) === day ? mm / 1e6 : 0))
    expect(Math.abs(km - ofDay)).toBeLessThan(0.011)
  }
})

test('the timeline: points, check-ins and kilometres of each day', async () => {
  const { days } = await read(operator.readTimeline())
  const points = known.flatMap((one) => [...one.points.values()])
  const segments = known.flatMap((one) => one.segments())
  expect(new Set(days.map(({ day }) => day))).toEqual(new Set(points.map(({ t }) => dayOf(t))))
  for (const { day, points: count, checkins, km } of days) {
    const ofDay = points.filter(({ t }) => dayOf(t) === day)
    expect(count).toBe(ofDay.length)
    expect(checkins).toBe(ofDay.filter(({ kind }) => kind === 'check-in').length)
    expect(Math.abs(km - sumOf(segments, ({ t, mm }) => (dayOf(t) === day ? mm / 1e6 : 0)))).toBeLessThan(
      0.011,
    )
  }
})

test('the ledger: every point that was ever sent, by what became of it', async () => {
  const ledger = await read(operator.readLedger())
  expect(ledger).toMatchObject({ stored: sum(({ points }) => points.size), lost: 0, dead_letter: 0 })
  for (const reason of ['in-the-future', 'too-old'])
    expect(ledger.rejected[reason] ?? 0).toBe(sum(({ rejected }) => rejected.get(reason) ?? 0))
  expect(ledger.duplicate).toBe(sum(({ duplicates }) => duplicates))
  expect(tally).toMatchObject({ points: ledger.stored, checkIns: sum(({ checkIns }) => checkIns) })
})

test('surveys and feedback, with their screenshots', async () => {
  const surveys = await read(operator.listSurveys())
  const answers = known.flatMap(({ surveys: given }) => given.slice(-1))
  expect(surveys.total).toBe(answers.length)
  for (const [answer, count] of Object.entries(surveys.counts.q4 ?? {}))
    expect(count).toBe(answers.filter(({ q4 }) => q4 === answer).length)
  const reports = known.flatMap(({ feedback }) => feedback)
  const { items } = (await read(operator.listFeedback({ limit: 200 }))) as {
    items: { category: string; screenshot_url?: string | null }[]
  }
  const categories = (given: readonly { category: string }[]) => given.map(({ category }) => category).sort()
  expect(categories(items)).toEqual(categories(reports))
  const pictures = items.flatMap(({ screenshot_url: url }) => (url ? [new URL(url).pathname] : []))
  expect(pictures.length).toBe(reports.filter(({ hasScreenshot }) => hasScreenshot).length)
  const picture = await service.fetch(pictures[0]!)
  expect(await new Bun.Image(await picture.bytes()).metadata()).toMatchObject({ width: 180, height: 320 })
})

test('front and tail are where the simulation has the crowd', async () => {
  const { front, tail } = await read(operator.readClusters({ zoom: 12 }))
  const seen = known.flatMap(({ last }) => last ?? [])
  const latestMs = Math.max(...seen.map(({ t }) => t))
  const alongKm = seen
    .filter(({ t }) => t > latestMs - 86_400_000)
    .map((place) => nearestKm(way, place))
    .sort((a, b) => a - b)
  const strays = Math.floor(alongKm.length * 0.05)
  expect(Math.abs(tail!.route_km! - alongKm[strays]!)).toBeLessThan(0.3)
  expect(Math.abs(front!.route_km! - alongKm.at(-1 - strays)!)).toBeLessThan(0.3)
})

/** The demo's crowd on the embedded run: every report agrees with the simulation. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createCrowd, type Crowd } from './crowd.ts'
import { LINE_SECRET, lineSettings, type LineServer, startLineServer } from '#tests/helpers/line-server.ts'
import { DAY_S, HOUR_S } from './procession.ts'
import { runCrowd } from './run-crowd.ts'
import { createTally } from './tally.ts'
import { chooseTimetable } from './timetable.ts'
import { readWay, ROUTE_FILE, type Place, type Way } from './way.ts'
import { type Answer, type Client, createClient, type Data } from '#shared/client/index.ts'
import { type Embedded, startMigratedEmbedded } from '#tests/helpers/embedded.ts'
import { until } from '#tests/helpers/wait.ts'
import type { Act, Fix, Reported } from './acts.ts'
import type { Person } from './person.ts'

interface Point {
  readonly t: number
  readonly kind: 'check-in' | 'track'
  readonly lat: number
  readonly lng: number
  readonly mode: string | null
}

interface Segment {
  readonly t: number
  readonly mm: number
  readonly mode: string
}

/** kg CO2e per km, and per reported unit. */
const KG_PER_KM: Readonly<Record<string, number>> = {
  walk: 0,
  scooter: 0.13734,
  bus: 0.47515,
  train: 0.07575,
}
const KG_PER_UNIT = { water: 0.10974, recycle: -0.00265, hotel: 8.85 }
const LEVEL_KM = [0, 15, 45, 90, 135, 180, 225, 270, 300]

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/** The simulation's knowledge of one pilgrim. */
class Known {
  readonly points = new Map<string, Point>()
  readonly rejected = new Map<string, number>()
  /** Repeated identical requests, and points at an instant that is already taken. */
  duplicates = 0
  photos = 0
  surveys: Readonly<Record<string, unknown>>[] = []
  feedback: { readonly category: string; readonly hasScreenshot: boolean }[] = []
  reported: Reported | null = null
  status = 'active'
  phone: string | null = null
  agreed = false
  name: string | null = null
  follows = false
  links = 0
  /** The pilgrim's position in the simulation: time and place of the last point that counts. */
  last: Point | null = null

  constructor(
    readonly person: Person,
    readonly departureMs: number,
    readonly nowMs: number,
  ) {}

  take({ deed }: Act): void {
    if (deed.kind === 'point') this.#add('track', deed.fix, 1)
    else if (deed.kind === 'check-in') this.#add('check-in', deed.fix, deed.times)
    else if (deed.kind === 'survey') this.surveys.push(deed.answers)
    else if (deed.kind === 'feedback')
      this.feedback.push({ category: deed.category, hasScreenshot: deed.screenshot !== null })
    else if (deed.kind === 'reported') this.reported = deed.reported
    else if (deed.kind === 'status') this.status = deed.status
    else if (deed.kind === 'phone-number') this.phone = deed.phone
    else if (deed.kind === 'consent') this.agreed = deed.agreed
    else if (deed.kind === 'share' || deed.kind === 'tracker') this.links++
    else if (deed.kind === 'profile') this.name = deed.name
    else if (deed.kind === 'line' && deed.event === 'photo') this.photos++
    else if (deed.kind === 'line' && deed.event === 'follow') this.follows = true
  }

  #add(kind: Point['kind'], { lat, lng, clockS, mode }: Fix, times: number): void {
    const t = this.departureMs + clockS * 1_000
    const refusal = this.#refusal(kind, t)
    if (refusal !== null) {
      if (kind === 'track') this.rejected.set(refusal, (this.rejected.get(refusal) ?? 0) + 1)
      return
    }
    this.duplicates += times - 1
    const key = `${kind} ${t}`
    if (this.points.has(key)) return
    const point = { t, kind, lat, lng, mode: mode ?? null }
    this.points.set(key, point)
    if (this.last === null || t >= this.last.t) this.last = point
  }

  #refusal(kind: Point['kind'], t: number): string | null {
    if (t > this.nowMs + (kind === 'track' ? 5 * MINUTE_MS : DAY_MS)) return 'in-the-future'
    return t < this.nowMs - 30 * DAY_MS ? 'too-old' : null
  }

  get checkIns(): number {
    return [...this.points.values()].filter(({ kind }) => kind === 'check-in').length
  }

  /** The counted segments, from anchor to anchor. */
  segments(): Segment[] {
    const points = [...this.points.values()].sort(
      (a, b) => a.t - b.t || (a.kind === b.kind ? 0 : a.kind === 'check-in' ? -1 : 1),
    )
    const counted: Segment[] = []
    let anchor: Point | null = null
    for (const point of points) {
      if (anchor === null) {
        anchor = point
        continue
      }
      const seconds = (point.t - anchor.t) / 1_000
      if (seconds < 30) continue
      const mm = Math.round(metres(anchor, point) * 1_000)
      const kmh = (mm / 1e6 / seconds) * 3_600
      // Nobody in this crowd jumps; a faster one would need the rule for undone jumps.
      if (kmh > 300) throw new Error('the crowd has a jump')
      if (mm < 10_000) {
        anchor = { ...anchor, t: point.t }
        continue
      }
      counted.push({ t: point.t, mm, mode: point.mode ?? (kmh <= 15 ? 'walk' : 'bus') })
      anchor = point
    }
    return counted
  }

  get mm(): number {
    return this.segments().reduce((sum, { mm }) => sum + mm, 0)
  }

  get level(): number {
    const { mm, checkIns } = this
    return Math.max(
      1,
      LEVEL_KM.findLastIndex((km, i) => mm >= km * 1e6 && checkIns >= Math.max(1, 5 * i)) + 1,
    )
  }

  /** kg CO2e of the walk and of the reports. */
  get kg(): number {
    const way = this.segments().reduce((sum, { mm, mode }) => sum + (mm / 1e6) * KG_PER_KM[mode]!, 0)
    if (this.reported === null) return way
    const { consumption, transport } = this.reported
    const goods = Object.entries(KG_PER_UNIT).map(([what, kg]) => kg * consumption[what as 'water'])
    return way + transport.train * KG_PER_KM.train! + goods.reduce((sum, kg) => sum + kg, 0)
  }
}

const radians = (degrees: number): number => (degrees * Math.PI) / 180

/** Great-circle distance on a sphere of 6,371,008.8 m, by the haversine formula in its form with atan2. */
function metres(a: Place, b: Place): number {
  const half =
    Math.sin(radians(b.lat - a.lat) / 2) ** 2 +
    Math.cos(radians(a.lat)) * Math.cos(radians(b.lat)) * Math.sin(radians(b.lng - a.lng) / 2) ** 2
  return 2 * 6_371_008.8 * Math.atan2(Math.sqrt(half), Math.sqrt(1 - half))
}

/** The day in Taiwan. */
const dayOf = (ms: number): string => new Date(ms + 8 * 3_600_000).toISOString().slice(0, 10)

/** The kilometre of the way that is nearest to a place, tried every 50 m. */
function nearestKm(way: Way, place: Place): number {
  let [nearest, least] = [0, Infinity]
  for (let km = 0; km <= way.lengthKm; km += 0.05) {
    const off = metres(way.at(km), place)
    if (off < least) [nearest, least] = [km, off]
  }
  return nearest
}

const TOKEN = 'token-of-the-owner'
const TIMEOUT_MS = 120_000
const PILGRIMS = 40
/** The seventh day, when some are home and others still walk. The last hours have every step. */
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
let line: LineServer
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
  line = startLineServer()
  const crowd = crowdUntil(END_S)
  for (const { userId, name, language } of crowd.people)
    line.profiles.set(userId, { displayName: name, language })
  service = await startMigratedEmbedded({
    EVENT_ROUTE: ROUTE_FILE,
    EVENT_ADMIN_TOKEN: TOKEN,
    EVENT_FLUSH_SECONDS: '1',
    EVENT_LIMIT_CHECKIN: MANY,
    EVENT_LIMIT_SYNC: MANY,
    EVENT_LIMIT_SURVEY: MANY,
    EVENT_LIMIT_USER_WRITE: MANY,
    EVENT_LIMIT_ADMIN: MANY,
    ...lineSettings(line),
  })
  const ca = await Bun.file(service.caFile).text()
  const trusting = (url: string, init: RequestInit) => fetch(url, { ...init, tls: { ca } } as RequestInit)
  operator = createClient({ baseUrl: service.url, fetch: trusting, token: TOKEN })
  const { signal } = new AbortController()
  const passed = () => undefined
  const target = { baseUrl: service.url, fetch: trusting, lineSecret: LINE_SECRET }
  await runCrowd({ crowd, timetable, ...target, tally, ...ALL, signal, passed })
  const stored = sum(({ points }) => points.size)
  await until(
    async () => {
      const ledger = await read(operator.readLedger())
      return ledger.stored >= stored && ledger.pending === 0 && ledger.in_flight === 0
    },
    'the flush',
    { timeoutMs: 30_000 },
  )
}, TIMEOUT_MS)
afterAll(async () => {
  await service?.stop()
  service?.remove()
  await line?.stop()
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
    // Displayed rounded down to 10 m; a segment's millimetre may be rounded either way.
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
    // Corners are cut, and positions have errors of some metres.
    expect(Math.abs(pilgrim.mm / 1e6 / movedKm - 1)).toBeLessThan(0.03)
  }
})

test('photos, phone numbers, consents', async () => {
  for (const { person, photos, agreed, phone } of known) {
    const { userId } = person
    // The bot counts them after it has responded to LINE, in any order of people.
    await until(
      async () => (await read(operator.countPhotos({ user_id: userId }))).photo_count === photos,
      'all photos of a person',
    )
    const profile: Data<'readProfile'> = await read(operator.readProfile({ userId }))
    expect(profile).toMatchObject({ photo_count: photos, privacy_agreed: agreed })
    expect(profile.phone?.slice(-2)).toBe(phone?.slice(-2))
  }
  expect(tally.followers).toBe(known.filter(({ follows }) => follows).length)
  await until(() => line.sent.length >= tally.followers, 'an answer to each follower')
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

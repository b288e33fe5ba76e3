/**
 * An attacker who knows every user id reads all public endpoints for two hours, across a change of the map's
 * ids, joins the responses, and identifies nobody on the map. As a control, the same attacker identifies
 * everyone in a map and profiles without crowds and rounded days.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type LivePosition, type LiveMap, dataEndpoint } from '#shared/contracts/tracking.ts'
import { cellAt, cellCentre, cellName, MAX_ZOOM } from '#shared/core/map/cells.ts'
import { WIDEST_ZOOM } from '#services/tracking/map/crowds.ts'
import {
  acrossByOrder,
  acrossByValue,
  byRhythm,
  byValue,
  type Claim,
  type Poll,
  type Told,
  told,
} from './attack.ts'
import { distanceMm } from '#shared/core/rules/geo.ts'
import { createAdmin } from '#services/admin/app.ts'
import { createFeedbackMedia } from '#services/feedback-media/app.ts'
import { createSurveyProfile } from '#services/survey-profile/app.ts'
import { createTracking } from '#services/tracking/app.ts'
import { LivePositions } from '#services/tracking/map/latest-positions.ts'
import { FollowersMap } from '#services/tracking/map/map-snapshots.ts'
import { Palanquin } from '#services/tracking/map/palanquin.ts'
import { PublicMap } from '#services/tracking/map/public-map.ts'
import { createMap } from '#services/tracking/map/show-map.ts'
import type { Environment } from '#shared/runtime/config/config.ts'
import type { Service } from '#shared/service/context.ts'
import { mapEndpoint } from '#shared/contracts/map.ts'
import { createRouter } from '#shared/service/http/router.ts'
import { serviceOf } from '#shared/service/http/routes.ts'
import { createRoute } from '#shared/core/map/walking-route.ts'
import { openTestDatabase } from '#tests/helpers/database.ts'
import { embeddedOnly } from '#tests/helpers/suite.ts'
import { createRandom } from '#tests/helpers/random.ts'
import { openServiceParts } from '#tests/helpers/service-parts.ts'

const MINUTE_MS = 60_000
const METRES_PER_DEGREE = 111_195
/** Length of the part of the route on which pilgrims start. */
const SPREAD_M = 15_000

/**
 * A thousand pilgrims who walk and rest, on a simulated clock, and the services that their phones and an attacker use.
 */
interface Scene {
  /** The services' time, epoch milliseconds. */
  nowMs: number
  /** Sends a request as the proxy would. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** Refreshes the live map and the public map. */
  refresh(): Promise<void>
  close(): Promise<void>
}

/** Opens the services that respond to the public, on the run's Postgres if there is one. */
async function openScene(startMs: number, settings: Environment): Promise<Scene> {
  const database = embeddedOnly ? null : await openTestDatabase()
  const clock = { nowMs: startMs }
  const now = () => clock.nowMs
  const parts = await openServiceParts(
    {
      ...(database !== null && { DATABASE_URL: database.url }),
      EVENT_LIMIT_SYNC: '1000000',
      // An attacker has many addresses.
      EVENT_LIMIT_ADDRESS: '1000000000',
      ...settings,
    },
    { now },
  )
  const context = parts.context()
  const { kv, config } = parts.ports
  const services = new Map<string, Service>()
  for (const create of [createTracking, createSurveyProfile, createFeedbackMedia, createAdmin]) {
    const service = create(parts.context(create.name))
    services.set(service.name, service)
  }
  for (const service of services.values()) await service.start()
  // The service refreshes its map by the real clock; the test refreshes this one.
  const live = new LivePositions(kv, now, context.log, context.stopwatch)
  const map = createRouter(context)
  const publicMap = new PublicMap(live, config.mapCrowd, now)
  const showMap = createMap(context, live, publicMap)
  map.serve(dataEndpoint, ({ query, operator }) => showMap(query, operator))
  const followers = new FollowersMap(context, publicMap, new Palanquin(context))
  map.serve(mapEndpoint, ({ request, query }) => followers.answer(request, query.since))
  return Object.assign(clock, {
    async fetch(path: string, init?: RequestInit) {
      const request = new Request(`http://event.test${path}`, init)
      const { pathname } = new URL(request.url)
      if (pathname === dataEndpoint.path || pathname === mapEndpoint.path) return map.app.fetch(request)
      return services.get(serviceOf(pathname, request.method))!.fetch(request)
    },
    async refresh() {
      await live.refresh()
      await followers.refresh()
    },
    async close() {
      for (const service of services.values()) await service.stop()
      await parts.close()
      await database?.drop()
    },
  })
}

interface Pilgrim {
  readonly userId: string
  readonly kmh: number
  /** Time between two reports of the phone. */
  readonly everyMs: number
  alongM: number
  rests: boolean
  changesMs: number
  sendsMs: number
}

/** A place on the winding road of all pilgrims. */
const roadAt = (alongM: number) => ({
  lat: 24.15 + alongM / METRES_PER_DEGREE,
  lng: 120.67 + 0.01 * Math.sin(alongM / 1_500),
})

/** The road, as the event's route. */
const road = createRoute([Array.from({ length: 1_001 }, (_, i) => roadAt((i * 2 * SPREAD_M) / 1_000))])

/** Pilgrims with their own pace, rests and phones. */
class Walkers {
  readonly #random = createRandom(12)
  readonly #pilgrims: readonly Pilgrim[]
  readonly userIds: readonly string[]

  constructor(
    private readonly scene: Scene,
    count: number,
  ) {
    this.#pilgrims = Array.from({ length: count }, (_, i) => ({
      userId: `pilgrim-${i}`,
      kmh: 3 + 2.5 * this.#random(),
      everyMs: (3 + 6 * this.#random()) * MINUTE_MS,
      alongM: SPREAD_M * this.#random(),
      rests: this.#random() < 0.3,
      changesMs: scene.nowMs + 40 * MINUTE_MS * this.#random(),
      sendsMs: scene.nowMs,
    }))
    this.userIds = this.#pilgrims.map(({ userId }) => userId)
  }

  /** Advances the time. Phones whose report is due send their position. */
  async walk(ms: number): Promise<void> {
    this.scene.nowMs += ms
    const now = this.scene.nowMs
    const reports = this.#pilgrims.flatMap((pilgrim) => {
      if (!pilgrim.rests) pilgrim.alongM += (pilgrim.kmh / 3.6e3) * ms
      if (now >= pilgrim.changesMs) {
        pilgrim.rests = !pilgrim.rests
        pilgrim.changesMs =
          now + (pilgrim.rests ? 5 + 20 * this.#random() : 20 + 40 * this.#random()) * MINUTE_MS
      }
      if (now < pilgrim.sendsMs) return []
      pilgrim.sendsMs = now + pilgrim.everyMs * (0.7 + 0.6 * this.#random())
      return [this.#report(pilgrim)]
    })
    for (const answer of await Promise.all(reports))
      if (answer.status !== 200) throw new Error(`a report was answered ${answer.status}`)
    await this.scene.refresh()
  }

  /** A position on the road, with a phone's accuracy, some seconds ago. */
  #report({ userId, alongM }: Pilgrim): Promise<Response> {
    const wrong = () => (10 * (this.#random() - 0.5)) / METRES_PER_DEGREE
    const { lat, lng } = roadAt(alongM)
    const point = {
      lat: lat + wrong(),
      lng: lng + wrong(),
      timestamp: Math.floor(this.scene.nowMs - 20_000 * this.#random()),
    }
    return this.scene.fetch('/api/event/track/sync', {
      method: 'POST',
      body: JSON.stringify({ user_id: userId, points: [point] }),
    })
  }
}

const CROWD = 5
const PILGRIMS = 1_000
const ROUND_MS = 3 * MINUTE_MS
const START = Date.parse('2026-04-12T02:00:30Z')
/** One second before and after the full hour, while hardly anyone moves. */
const BEFORE_MS = Date.parse('2026-04-12T02:59:59Z')
const END = START + 120 * MINUTE_MS
const TEST_MS = 180_000
const TOKEN = 'token-of-an-operator'

interface Round extends Poll {
  readonly atMs: number
  readonly people: Map<string, Told>
  /** The same with the figures that operators get. */
  readonly exactPeople: Map<string, Told>
  /** The operators' map, which is the ground truth. */
  readonly exact: readonly LivePosition[]
}

let scene: Scene
let walkers: Walkers
const rounds: Round[] = []

async function dataOf<T>(path: string, headers: Record<string, string> = {}): Promise<T> {
  const answer = await scene.fetch(path, { headers })
  if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`)
  const { data } = (await answer.json()) as { data: T }
  return data
}

const MAP = '/api/event/data?limit=5000'
const OPERATOR = { 'X-Admin-Token': TOKEN }

/** Answers of an endpoint whose path ends with the pilgrim's id, for each pilgrim. */
async function people(address: string, headers: Record<string, string> = {}): Promise<Map<string, Told>> {
  const all = await Promise.all(
    walkers.userIds.map(async (id) => {
      const data = await dataOf<object>(`/api/event/${address}${id}`, headers)
      return [id, told({ ...data, userId: null })] as const
    }),
  )
  return new Map(all)
}

/** Reads all public endpoints. */
async function ask(): Promise<Round> {
  const { points } = await dataOf<LiveMap>(MAP)
  const { points: exact } = await dataOf<LiveMap>(MAP, OPERATOR)
  const everybody = await people('user/')
  for (const path of ['/health', '/api/event/map', '/api/event/feedback', '/api/event/feedback/status']) {
    const answer = (await (await scene.fetch(path)).json()) as object
    everybody.set(path, told(answer))
  }
  return { atMs: scene.nowMs, people: everybody, exactPeople: await people('user/', OPERATOR), points, exact }
}

beforeAll(async () => {
  scene = await openScene(START, { EVENT_MAP_CROWD: `${CROWD}`, EVENT_MANAGER_TOKEN: `manager:${TOKEN}` })
  walkers = new Walkers(scene, PILGRIMS)
  await walkers.walk(0)
  rounds.push(await ask())
  while (scene.nowMs < END) {
    const toHour = BEFORE_MS - scene.nowMs
    if (toHour === 0) await walkers.walk(2_000)
    else await walkers.walk(toHour > 0 ? Math.min(toHour, ROUND_MS) : ROUND_MS)
    rounds.push(await ask())
  }
  // No photo is sent meanwhile, so one request reveals as much as forty.
  const last = rounds.at(-1)!
  for (const [id, photos] of await people('photos/count?user_id=')) last.people.set(`photos of ${id}`, photos)
}, TEST_MS)
afterAll(() => scene?.close(), TEST_MS)

type As = (round: Round) => Round
const asTold: As = (round) => round
/** The last round of the first hour, and the first of the next. */
const around = (as: As): [before: Round, after: Round] => {
  const last = rounds.findLastIndex(({ atMs }) => atMs <= BEFORE_MS)
  return [as(rounds[last]!), as(rounds[last + 1]!)]
}
/** The rounds of the first hour. */
const hour = (as: As): Round[] => rounds.filter(({ atMs }) => atMs <= BEFORE_MS).map(as)

/** The same round with the map and profiles of operators, without names. */
const bare = (round: Round): Round => ({
  ...round,
  points: round.exact.map(({ id, lat, lng, recorded_at }) => ({ id, lat, lng, recorded_at })),
})

/**
 * The same, with exact figures of people, centres of the finest cells that have enough people, whole minutes, and an id
 * for each person.
 */
function coarse(round: Round): Round {
  const counts = new Map<string, number>()
  const cellsOf = ({ lat, lng }: LivePosition) =>
    Array.from({ length: MAX_ZOOM - WIDEST_ZOOM + 1 }, (_, i) => cellAt(lat, lng, MAX_ZOOM - i))
  for (const one of round.exact)
    for (const cell of cellsOf(one)) counts.set(cellName(cell), (counts.get(cellName(cell)) ?? 0) + 1)
  const points = round.exact.flatMap((one): LivePosition[] => {
    const cell = cellsOf(one).find((wider) => counts.get(cellName(wider))! >= CROWD)
    const recorded_at = `${one.recorded_at.slice(0, 17)}00.000Z`
    return cell === undefined ? [] : [{ id: one.id, ...cellCentre(cell), recorded_at }]
  })
  return { ...round, people: round.exactPeople, points }
}

const standOf = ({ lat, lng, recorded_at }: LivePosition): string => `${lat} ${lng} ${recorded_at}`

/** Number of people at the place of an id of the map. */
const company = ({ points }: Poll): Map<string, number> => {
  const stands = Map.groupBy(points, standOf)
  return new Map(points.map((point) => [point.id, stands.get(standOf(point))!.length]))
}

/**
 * Expected number of correct claims about users. An id of the operators' map is one person's; a public id may
 * be anyone's at the place.
 */
function found(claims: readonly Claim[], round: Round): number {
  const userOf = new Map(round.exact.map(({ id, userId }) => [id, userId]))
  const sizes = company(round)
  return claims.reduce(
    (sum, [id, user]) => sum + (userOf.has(id) ? Number(userOf.get(id) === user) : 1 / sizes.get(id)!),
    0,
  )
}

/** The same for claims that one id is the successor of another. */
function linked(claims: readonly Claim[], before: Round, after: Round): number {
  const [was, is] = [before, after].map(({ exact }) => new Map(exact.map(({ id, userId }) => [id, userId])))
  const [sizes, later] = [company(before), company(after)]
  return claims.reduce((sum, [one, other]) => {
    const isKnown = was!.has(one) && is!.has(other)
    return (
      sum +
      (isKnown ? Number(was!.get(one) === is!.get(other)) : 1 / Math.max(sizes.get(one)!, later.get(other)!))
    )
  }, 0)
}

/** Half of the width of a cell of zoom 14. */
const CELL_M = 44
/**
 * What the attacker adds to rounded-down kilometres: half a step of one below 10, half a step of five above.
 */
const middleOfStep = (km: number): number => (km < 10 ? 0.5 : 2.5)

/**
 * Number of people located within a cell by their kilometres, if the attacker knows where on the road they
 * started and that they have followed it.
 */
function foundByKm(people: Round['people'], added: (km: number) => number): number {
  const [first, last] = [rounds[0]!, rounds.at(-1)!].map(
    ({ exact }) => new Map(exact.map((one) => [one.userId!, one])),
  )
  return [...people].filter(([id, fields]) => {
    const [start, is] = [first!.get(id), last!.get(id)]
    if (start === undefined || is === undefined) return false
    const km = Number(fields['.km'])
    const claim = road.at(road.project(start).alongM + (km + added(km)) * 1_000)
    return distanceMm(claim, is) / 1_000 <= CELL_M
  }).length
}

describe('an attacker who knows every user id', () => {
  test('identifies everybody by the instants that operators see', () => {
    const round = bare(rounds.at(-1)!)
    expect(found(byValue({ ...round, people: round.exactPeople }), round)).toBeGreaterThan(0.95 * PILGRIMS)
    const [before, after] = around(bare)
    expect(linked(acrossByValue(before, after), before, after)).toBeGreaterThan(0.9 * PILGRIMS)
  })

  test('identifies some by the times of changes, and a quarter again in the next hour, when only places are coarse', () => {
    const [before, after] = around(coarse)
    // Chance would be one in a thousand.
    expect(found(byRhythm(hour(coarse)), before)).toBeGreaterThan(0.02 * PILGRIMS)
    expect(linked(acrossByValue(before, after), before, after)).toBeGreaterThan(0.15 * PILGRIMS)
  })

  test('identifies nobody by a value, and by the times of changes no more than by guessing among a crowd', () => {
    const [before] = around(asTold)
    for (const round of rounds) expect(byValue(round)).toEqual([])
    const claims = byRhythm(hour(asTold))
    expect(found(claims, before)).toBeLessThanOrEqual(claims.length / CROWD)
  })

  test('finds no id’s successor by a value, and by order no more than by guessing among a crowd', () => {
    const [before, after] = around(asTold)
    expect(acrossByValue(before, after)).toEqual([])
    const claims = acrossByOrder(before, after)
    expect(linked(claims, before, after)).toBeLessThanOrEqual(claims.length / CROWD)
    const ids = new Set(before.points.map(({ id }) => id))
    expect(after.points.filter(({ id }) => ids.has(id))).toEqual([])
  })

  test('finds most people by exact kilometres along the road, and by rounded ones no more than by guessing', () => {
    const { exactPeople, people } = rounds.at(-1)!
    expect(foundByKm(exactPeople, () => 0)).toBeGreaterThan(0.5 * PILGRIMS)
    expect(foundByKm(people, middleOfStep)).toBeLessThanOrEqual(PILGRIMS / CROWD)
  })

  test('is shown nearly everybody, and nobody in a group smaller than the crowd', () => {
    for (const round of rounds) {
      expect(round.points.length).toBeGreaterThan(0.95 * PILGRIMS)
      expect(Math.min(...company(round).values())).toBeGreaterThanOrEqual(CROWD)
    }
  })
})

/**
 * Nobody is found on the map: a stranger who knows every user id asks everything that is public for two hours, over a
 * change of the map's ids, and joins it. The same stranger finds everybody in what the map and profiles would tell
 * without crowds and days, so that finding nobody means something.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import type { LivePosition, LiveMap } from '#shared/contracts/tracking.ts'
import { cellAt, cellCentre, cellName, MAX_ZOOM } from '#shared/map/cells.ts'
import { WIDEST_ZOOM } from '#shared/map/crowds.ts'
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
import { openScene, type Scene, Walkers } from './walking-crowd.ts'

const CROWD = 5
const PILGRIMS = 1_000
const MINUTE_MS = 60_000
const ROUND_MS = 3 * MINUTE_MS
const START = Date.parse('2026-04-12T02:00:30Z')
/** A second to each side of the hour, while hardly anybody moves. */
const BEFORE_MS = Date.parse('2026-04-12T02:59:59Z')
const END = START + 120 * MINUTE_MS
const TEST_MS = 180_000
const TOKEN = 'token-of-an-operator'

/** What is asked for in every round. */
const ASKED = [
  '/api/event/user/:userId',
  '/api/event/photos/count',
  '/api/event/data',
  '/api/event/feedback',
  '/api/event/feedback/status',
  '/health',
]
/** What tells the stranger nothing more: the page about the event, the documents; cards show a profile's figures, screenshots have names that nobody guesses. */
const LEFT_OUT = [
  '/',
  '/api/event/og/:file',
  '/api/event/feedback-image/:file',
  '/api/event/openapi.json',
  '/api/event/docs',
]

interface Round extends Poll {
  readonly atMs: number
  readonly people: Map<string, Told>
  /** What an operator sees: the truth. */
  readonly exact: readonly LivePosition[]
}

let scene: Scene
let walkers: Walkers
const rounds: Round[] = []
/** As an operator reads them, at the time of the last round. */
let exactProfiles: Poll['people']

async function dataOf<T>(path: string, headers: Record<string, string> = {}): Promise<T> {
  const answer = await scene.fetch(path, { headers })
  if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`)
  const { data } = (await answer.json()) as { data: T }
  return data
}

const MAP = '/api/event/data?limit=5000'
const OPERATOR = { 'X-Admin-Token': TOKEN }

/** What is told of each pilgrim at an address that ends with their id. */
async function people(address: string, headers: Record<string, string> = {}): Promise<Map<string, Told>> {
  const all = await Promise.all(
    walkers.userIds.map(async (id) => {
      const data = await dataOf<object>(`/api/event/${address}${id}`, headers)
      return [id, told({ ...data, userId: null })] as const
    }),
  )
  return new Map(all)
}

/** Asks everything that is public. */
async function ask(): Promise<Round> {
  const { points } = await dataOf<LiveMap>(MAP)
  const { points: exact } = await dataOf<LiveMap>(MAP, OPERATOR)
  const everybody = await people('user/')
  for (const path of ['/health', '/api/event/feedback', '/api/event/feedback/status']) {
    const answer = (await (await scene.fetch(path)).json()) as object
    everybody.set(path, told(answer))
  }
  return { atMs: scene.nowMs, people: everybody, points, exact }
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
  exactProfiles = await people('user/', OPERATOR)
  // No photo is sent meanwhile, so that one question is as good as forty.
  const last = rounds.at(-1)!
  for (const [id, photos] of await people('photos/count?user_id=')) last.people.set(`photos of ${id}`, photos)
}, TEST_MS)
afterAll(() => scene.close(), TEST_MS)

type As = (round: Round) => Round
const asTold: As = (round) => round
/** The last round of the first hour, and the first of the next. */
const around = (as: As): [before: Round, after: Round] => {
  const last = rounds.findLastIndex(({ atMs }) => atMs <= BEFORE_MS)
  return [as(rounds[last]!), as(rounds[last + 1]!)]
}
/** The rounds of the first hour. */
const hour = (as: As): Round[] => rounds.filter(({ atMs }) => atMs <= BEFORE_MS).map(as)

/** The same round, if the map and profiles told what operators see, but for names. */
const bare = (round: Round): Round => ({
  ...round,
  points: round.exact.map(({ id, lat, lng, recorded_at }) => ({ id, lat, lng, recorded_at })),
})

/** The same, with places of the finest cells that enough people are in, whole minutes, and an id for each of them. */
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
  return { ...round, points }
}

const standOf = ({ lat, lng, recorded_at }: LivePosition): string => `${lat} ${lng} ${recorded_at}`

/** How many stand where an id of the map does. */
const company = ({ points }: Poll): Map<string, number> => {
  const stands = Map.groupBy(points, standOf)
  return new Map(points.map((point) => [point.id, stands.get(standOf(point))!.length]))
}

/** Expected number of users whose point a claim names: an id that operators see is one person's, another one anybody's there. */
function found(claims: readonly Claim[], round: Round): number {
  const userOf = new Map(round.exact.map(({ id, userId }) => [id, userId]))
  const sizes = company(round)
  return claims.reduce(
    (sum, [id, user]) => sum + (userOf.has(id) ? Number(userOf.get(id) === user) : 1 / sizes.get(id)!),
    0,
  )
}

/** The same of claims that one id is another one's successor. */
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

describe('a stranger who knows every user id', () => {
  test('asks everything that is public', () => {
    const open = ENDPOINTS.filter(
      ({ method, access }) => method === 'GET' && (access === 'public' || access === 'optional'),
    )
    expect(open.map(({ path }) => path).sort()).toEqual([...ASKED, ...LEFT_OUT].sort())
  })

  test('finds everybody by the instants that an operator sees', () => {
    const round = bare(rounds.at(-1)!)
    expect(found(byValue({ ...round, people: exactProfiles }), round)).toBeGreaterThan(0.95 * PILGRIMS)
    const [before, after] = around(bare)
    expect(linked(acrossByValue(before, after), before, after)).toBeGreaterThan(0.9 * PILGRIMS)
  })

  test('finds some by rhythm, and a quarter again in the next hour, where only places are coarse', () => {
    const [before, after] = around(coarse)
    // By chance it would be one of a thousand.
    expect(found(byRhythm(hour(coarse)), before)).toBeGreaterThan(0.02 * PILGRIMS)
    expect(linked(acrossByValue(before, after), before, after)).toBeGreaterThan(0.15 * PILGRIMS)
  })

  test('finds nobody by a value, and by rhythm no more than by guessing at a place', () => {
    const [before] = around(asTold)
    for (const round of rounds) expect(byValue(round)).toEqual([])
    const claims = byRhythm(hour(asTold))
    expect(found(claims, before)).toBeLessThanOrEqual(claims.length / CROWD)
  })

  test('finds no id’s next one by a value, and by the order no more than by guessing at a place', () => {
    const [before, after] = around(asTold)
    expect(acrossByValue(before, after)).toEqual([])
    const claims = acrossByOrder(before, after)
    expect(linked(claims, before, after)).toBeLessThanOrEqual(claims.length / CROWD)
    const ids = new Set(before.points.map(({ id }) => id))
    expect(after.points.filter(({ id }) => ids.has(id))).toEqual([])
  })

  test('is shown nearly everybody, and nobody in company of fewer than the crowd', () => {
    for (const round of rounds) {
      expect(round.points.length).toBeGreaterThan(0.95 * PILGRIMS)
      expect(Math.min(...company(round).values())).toBeGreaterThanOrEqual(CROWD)
    }
  })
})

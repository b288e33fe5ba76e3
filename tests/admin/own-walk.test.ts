/** Reading a pilgrim's own day skips points that do not count, however many there are. */
import { createRandom } from '#tests/helpers/random.ts'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  readCheckIns,
  readCountablePoints,
  readOwnWalk,
  describeDay,
} from '#services/admin/own-data/read-own-walk.ts'
import { MAX_CHECKINS } from '#shared/contracts/own-data.ts'
import {
  byInstant,
  fold,
  type FoldPoint,
  type FoldState,
  type Segment,
  START,
} from '#shared/core/distance/points-to-distance.ts'
import { readPointsOfDays } from '#shared/points/totals/stored-days.ts'
import { type Late, openLate } from '#tests/erasure/late-writers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { newAppId } from '#tests/helpers/test-stack.ts'

const DAY_MS = 86_400_000
/** Start of a day in Taipei. */
const MIDNIGHT = Date.parse('2026-04-11T16:00:00Z')
const SPAN = [MIDNIGHT, MIDNIGHT + DAY_MS] as const
/** The first point, and one every 30 s. */
const MOST_LOOKED_AT = 1 + DAY_MS / 30_000

/** Generates a day with pauses, jumps, check-ins, and points at the same instant. */
function invent(random: () => number): FoldPoint[] {
  const points: FoldPoint[] = []
  let [t, lat] = [MIDNIGHT + Math.floor(random() * 100_000), 24]
  while (points.length < 3_000) {
    t += random() < 0.1 ? 0 : Math.floor(random() * (random() < 0.1 ? 90_000 : 12_000))
    lat += random() * 0.000_1
    const kind = random() < 0.1 ? 'c' : 't'
    const jump = random() < 0.02 ? 1 : 0
    // The sent time is the identity, and may be later than the time of the point.
    points.push({
      kind,
      t,
      sentMs: t + points.length,
      lat: lat + jump,
      lng: 120.67,
      mode: null,
      rough: random() < 0.05,
    })
  }
  return points
}

function segmentsOf(start: FoldState, points: readonly FoldPoint[]): [FoldState, Segment[]] {
  const segments: Segment[] = []
  return [fold(start, points, (segment) => segments.push(segment)), segments]
}

describeOnServers('the day of an own way', () => {
  let late: Late
  beforeAll(async () => {
    late = await openLate()
  })
  afterAll(() => late?.close())

  const store = (userId: string, points: readonly FoldPoint[]) => late.context.db.sql`
    INSERT INTO gps_points (user_id, kind, sent_at, recorded_at, received_at, lat, lng, accuracy, in_range, clock_corrected)
    SELECT ${userId}, kind, to_timestamp("sentMs" / 1000), to_timestamp(t / 1000), now(), lat, lng, CASE WHEN rough THEN 101 END, true, false
    FROM json_to_recordset(${JSON.stringify(points)}::text::json)
      AS p (kind text, "sentMs" float8, t float8, lat float8, lng float8, rough bool)`
  const storeEachSecond = (userId: string, kind: 'c' | 't', seconds: number) => late.context.db.sql`
    INSERT INTO gps_points (user_id, kind, sent_at, recorded_at, received_at, lat, lng, in_range, clock_corrected)
    SELECT ${userId}, ${kind}, at, at, at, 24 + s * 0.00001, 120.67, true, false
    FROM generate_series(0, ${seconds - 1}::int) s,
      LATERAL (SELECT to_timestamp(${MIDNIGHT}::float8 / 1000 + s) AS at) a`

  test.each([1, 2, 3])('what is left out does not count (%d)', async (seed) => {
    const random = createRandom(seed)
    const all = invent(random)
    const userId = newAppId()
    const pending = all.filter(() => random() < 0.1)
    await store(
      userId,
      all.filter((point) => !pending.includes(point)),
    )
    const ordered = [...all].sort(byInstant)
    const anchor = { t: ordered[0]!.t - 10_000, lat: 24, lng: 120.67 }
    for (const start of [START, { anchor, before: null }]) {
      const looked = await readCountablePoints(
        late.context.db,
        { userId, span: SPAN },
        pending,
        start.anchor?.t ?? null,
      )
      expect(looked[0]).toEqual(ordered.find(({ rough }) => !rough))
      expect(looked.length).toBeLessThan(all.length / 2)
      expect(segmentsOf(start, looked)).toEqual(segmentsOf(start, ordered))
    }
  })

  test('of 50,000 points some thousand are read, and the answer is that of all', async () => {
    const { db, calendar } = late.context
    const userId = newAppId()
    await storeEachSecond(userId, 't', 50_000)
    const asked = { userId, day: calendar.day(MIDNIGHT) }
    const looked = await readCountablePoints(db, { userId, span: SPAN }, [], null)
    expect(looked).toHaveLength(Math.ceil(50_000 / 30))
    expect(looked.length).toBeLessThanOrEqual(MOST_LOOKED_AT)
    const all = (await readPointsOfDays(db, [asked], calendar)).get(userId)!.sort(byInstant)
    expect(all).toHaveLength(50_000)
    const { line, stretches } = describeDay({ points: all, start: START, checkIns: [] })
    expect(await readOwnWalk(late.context, { user_id: userId, day: asked.day })).toMatchObject({
      line,
      stretches,
      checkins: [],
    })
  })

  test('of a day’s check-ins the first are listed', async () => {
    const userId = newAppId()
    await storeEachSecond(userId, 'c', MAX_CHECKINS + 10)
    const listed = await readCheckIns(late.context.db, { userId, span: SPAN }, [])
    expect(listed.map(({ t }) => t)).toEqual(
      Array.from({ length: MAX_CHECKINS }, (_, i) => MIDNIGHT + i * 1_000),
    )
  })

  test('a day without a point is empty', async () => {
    const day = { userId: newAppId(), span: SPAN }
    expect(await readCountablePoints(late.context.db, day, [], MIDNIGHT)).toEqual([])
  })
})

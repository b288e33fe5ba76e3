/**
 * The clocks of each process and of Postgres jump back and forward during the event, and are then corrected.
 * Redis does not start with the library: `tests/tracking/kv-clock-set-back.test.ts` shifts its stored times
 * instead.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { dataEndpoint } from '#shared/contracts/tracking.ts'
import { ServiceName } from '#shared/contracts/endpoint.ts'
import { migrate } from '#shared/stores/db/migrate.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { startNats, startPostgres, startRedis } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { callAs, checkIn, healthOf, newAppId, readAs } from '#tests/helpers/test-stack.ts'
import { openTestStackOn, type RealTestStack } from '#tests/helpers/test-stack-real.ts'
import { until } from '#tests/helpers/wait.ts'
import postgres from 'postgres'
import { CLOCK_NOTICED_MS, openClocks } from './suite/clocks.ts'

const clocks = await openClocks()
const HOUR_S = 3_600
const STEPS_S = [-HOUR_S, HOUR_S, 24 * HOUR_S, 31 * 24 * HOUR_S]
/** Maximum age of each response: a refresh, a cached answer and a flush, on a busy machine. */
const FRESH = { timeoutMs: 20_000, everyMs: 200 }

describeOnServers('a clock that steps', () => {
  const closing: (() => Promise<unknown>)[] = []
  let stack: RealTestStack
  let sql: postgres.Sql
  beforeAll(async () => {
    if (clocks === null) return
    const [database, redis, nats] = await Promise.all([
      startPostgres({ env: clocks.env('postgres') }),
      startRedis(),
      startNats(),
    ])
    closing.push(() => Promise.all([database.close(), redis.close(), nats.close()]))
    await migrate(database.url)
    sql = postgres(database.url, { max: 1, onnotice: () => undefined })
    closing.push(() => sql.end({ timeout: 1 }))
    const close = async () => undefined
    stack = await openTestStackOn(
      { settings: { EVENT_MAP_CROWD: '1' }, settingsOf: (name) => clocks.env(name), doubled: [] },
      { databaseUrl: database.url, redisUrl: redis.url, natsUrl: nats.url, close },
    )
    closing.push(() => stack.close())
    await sql`INSERT INTO outbox (subject, payload, created_at) VALUES ('kept', '{}', now())`
  })
  afterAll(async () => {
    for (const close of closing.reverse()) await close()
    clocks?.close()
  })

  const shown = async () => {
    const { points } = await dataOf(await readAs(stack, 'owner', 'data?limit=5000'), dataEndpoint)
    return new Set(points.map(({ userId }) => userId))
  }

  /**
   * Invariants at any moment: a check-in is visible, stored and reported, a pilgrim who hides is gone,
   * nothing is deleted.
   * @param isMapped false if check-ins are dated more than two days ahead, which the map drops
   *   (`old-positions.ts`)
   */
  async function expectAlive(isMapped: boolean): Promise<void> {
    const [ann, ben] = [newAppId(), newAppId()]
    for (const userId of [ann, ben]) expect((await checkIn(stack, userId)).status).toBe(202)
    if (isMapped) await until(async () => (await shown()).has(ann), 'the check-in to be on the map', FRESH)
    const hidden = await callAs(stack, 'owner', 'POST', 'privacy', { user_id: ann, agreed: false })
    expect(hidden.status).toBe(200)
    await until(async () => !(await shown()).has(ann), 'the hidden pilgrim to leave the map', FRESH)
    if (isMapped) expect(await shown()).toContain(ben)
    const stored = async () =>
      (await sql`SELECT FROM gps_points WHERE user_id IN (${ann}, ${ben})`).length === 2
    await until(stored, 'both points to be stored', FRESH)
    await until(async () => (await healthOf(stack)).buffer_size === 0, 'health to show it', FRESH)
    expect(await sql`SELECT FROM outbox WHERE subject = 'kept'`).toHaveLength(1)
  }

  const parts = [...ServiceName.options, 'postgres']
  test.skipIf(clocks === null).each(parts)(
    'of %s freezes nothing, deletes nothing and shows nobody hidden',
    async (part) => {
      try {
        for (const offsetS of [...STEPS_S, 0]) {
          clocks!.set(part, offsetS)
          await Bun.sleep(CLOCK_NOTICED_MS)
          await expectAlive(part !== 'tracking' || offsetS <= 24 * HOUR_S)
        }
      } finally {
        clocks!.set(part, 0)
      }
    },
    180_000,
  )
})

/**
 * A large event for the console's rows: filled by the real flush, and continuing while the console is open.
 */
import postgres from 'postgres'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import { startNats } from '#tests/helpers/servers.ts'
import { openTestStackOn, type RealTestStack } from '#tests/helpers/test-stack-real.ts'
import { onError, rules, sync } from '#tests/kv/drivers.ts'
import { walkerId } from '#tests/tools/scale/fill.ts'
import { fill } from '../aggregates/fill.ts'
import { closeAll, startDatabase, startStore, UNLIMITED } from '../measured-processes.ts'

/** Number of flushes in which the points arrived, so that projections were updated as in an event. */
const FLUSHES = 4
/** Interval at which each pilgrim sends. */
const HEARD_S = 30
/** Check-ins per second, so that the stream has counts each second. */
const CHECK_INS = 5
const FEEDBACK = 5_000
const AUDIT = 20_000
const DAY_S = 86_400

export interface EventSize {
  readonly pilgrims: number
  readonly points: number
}

export interface LargeEvent extends AsyncDisposable {
  readonly stack: RealTestStack
  /** Seconds that the filling took. */
  readonly filledS: number
}

/** Opens the whole service behind Caddy, with the event in its database and its crowd on the move. */
export async function openLargeEvent({ pilgrims, points }: EventSize): Promise<LargeEvent> {
  const [database, redis, nats] = await Promise.all([startDatabase(), startStore('everysec'), startNats()])
  const startedMs = performance.now()
  await fillDatabase(database.url, { pilgrims, points })
  const filledS = (performance.now() - startedMs) / 1_000
  const stores = { databaseUrl: database.url, redisUrl: redis.url, natsUrl: nats.url }
  const settings = { ...UNLIMITED, EVENT_FLUSH_SECONDS: '10' }
  const close = async () => closeAll([database, redis, nats])
  const stack = await openTestStackOn({ settings }, { ...stores, close })
  const stopCrowd = await startCrowd(stack, redis.url, pilgrims)
  return {
    stack,
    filledS,
    async [Symbol.asyncDispose]() {
      await stopCrowd()
      await stack.close()
    },
  }
}

async function fillDatabase(url: string, { pilgrims, points }: EventSize): Promise<void> {
  const db = await openDatabase({ url, dir: '' })
  const perPilgrim = Math.max(FLUSHES, Math.round(points / pilgrims / FLUSHES) * FLUSHES)
  const size = { pilgrims, perPilgrim, rounds: FLUSHES, nowMs: Date.now() }
  try {
    await fill(db, createCalendar('Asia/Taipei'), size)
  } finally {
    await db.close()
  }
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  await sql`
    INSERT INTO feedback (user_id, category, description, status, created_at, updated_at)
    SELECT ${walkerId(0)}, 'app', 'Report ' || n || ': the water station after the bridge is empty.',
      (ARRAY['new', 'triaging', 'fixing', 'fixed', 'wontfix'])[1 + n % 5], now() - n * interval '1 minute', now()
    FROM generate_series(1, ${FEEDBACK}::int) n`
  await sql`
    INSERT INTO audit_log (at, role, token_name, token_fingerprint, action, details, request_id)
    SELECT now() - (${AUDIT}::int - n) * interval '1 minute', 'manager', 'lin', 'abcdef01', 'show-user',
      jsonb_build_object('user_id', 'walker-' || n), 'r' || n
    FROM generate_series(1, ${AUDIT}::int) n`
  await sql.end()
}

/** Moves all pilgrims on the live map every half minute, with a few check-ins per second. */
async function startCrowd(stack: RealTestStack, redisUrl: string, pilgrims: number) {
  const kv = await openKv({ url: redisUrl, partitions: 1, path: '', onError })
  const startedMs = Date.now()
  const heard = (i: number) => {
    const t = Date.now()
    const walked = ((t - startedMs) / 1_000 / DAY_S) * 0.3
    const position = { t, lat: 24 + (i % 997) / 1_000 + walked, lng: 120.5 + (i % 89) / 180 }
    return sync(walkerId(i), [], { recordedMs: t, position })
  }
  const checkIn = (i: number) =>
    stack.fetch('/api/event/checkin', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ user_id: walkerId(i), lat: 24.1 + (i % 100) / 1_000, lng: 120.6 }),
    })
  let turn = 0
  let moving: Promise<unknown> = Promise.resolve()
  const move = async (): Promise<void> => {
    turn++
    const now = Array.from(
      { length: Math.floor(pilgrims / HEARD_S) },
      (_, n) => n * HEARD_S + (turn % HEARD_S),
    )
    await kv.restore(0, now.map(heard), rules())
    const answers = await Promise.all(
      Array.from({ length: CHECK_INS }, (_, n) => checkIn((turn * CHECK_INS + n) % pilgrims)),
    )
    await Promise.all(answers.map((answer) => answer.arrayBuffer()))
  }
  const timer = setInterval(() => {
    moving = moving.then(move)
  }, 1_000)
  return async () => {
    clearInterval(timer)
    await moving
    await kv.close()
  }
}

/**
 * What an app in sight that nobody touches costs in an hour, by state, on a clock that the test moves: requests, bytes
 * that go up, and how often the radio wakes. The real queue sends to a service that answers as each row says.
 */
import { afterAll, expect, test } from 'bun:test'
import {
  type ClientError,
  createClient,
  createMemoryStore,
  createTrackQueue,
  type RecordedPoint,
} from '#shared/client/index.ts'
import { cadenceOf, INITIAL, modeOf, type State, whyHeld } from '#proxy/pages/walk/state.ts'
import { simulatedClock, simulatedNetwork } from '#tests/client/simulated-phone.ts'

const HOUR_MS = 3_600_000
const STEP_MS = 10_000
/** A radio that has sent stays awake for so long. */
const AWAKE_MS = 10_000
const WALKING: State = {
  ...INITIAL,
  opening: false,
  person: { userId: 'w-costs', name: 'Wang', privacyVersion: '1', known: true },
  event: 'active',
  recording: true,
}
/** Request line and headers of a browser, and the answer's: what a small reading moves. */
const HEADERS_BYTES = 700
const POINT: Omit<RecordedPoint, 'timestamp'> = {
  lat: 24.147_123,
  lng: 120.673_456,
  accuracy: 8,
  altitude: 72,
  speed: 4.3,
  source: 'walk',
}

interface Row {
  readonly name: string
  readonly state?: Partial<State>
  /** A live link is open, or this is the palanquin. */
  readonly isFollowed?: boolean
  /** A point each so many milliseconds; 0: none. */
  readonly pointMs?: number
  readonly isHidden?: boolean
  readonly waiting?: number
  readonly answer?: () => Response
}

const refusal =
  (status: number, code: string | null, headers: Record<string, string> = {}) =>
  () =>
    code === null
      ? new Response('<p>Sign in</p>', { status, headers })
      : Response.json({ error: 'No.', code }, { status, headers })

const taken = (points: readonly { timestamp: number }[]): Response =>
  Response.json({
    ok: true,
    data: {
      accepted: points.length,
      duplicates: 0,
      rejected: [],
      durable_through: new Date(Math.max(0, ...points.map(({ timestamp }) => timestamp))).toISOString(),
    },
  })

async function measured(row: Row) {
  const { isFollowed = false, pointMs = 30_000, isHidden = false, waiting = 0 } = row
  const clock = simulatedClock()
  const startMs = clock.now()
  const sentAt: number[] = []
  let bytes = 0
  let points = 0
  let largest = 0
  const count = (size: number) => {
    sentAt.push(clock.now())
    bytes += size + HEADERS_BYTES
  }
  let state: State = { ...WALKING, ...row.state }
  const client = createClient({
    baseUrl: 'https://walk.example',
    identity: { userId: 'w-costs' },
    async fetch(_url, { body }) {
      const text = body as string
      count(text.length)
      const sent = (JSON.parse(text) as { points: { timestamp: number }[] }).points
      points += sent.length
      largest = Math.max(largest, sent.length)
      return row.answer?.() ?? taken(sent)
    },
  })
  const cadence = () => cadenceOf(modeOf(state), isFollowed, false)
  const queue = createTrackQueue({
    client,
    store: createMemoryStore(),
    clock,
    network: simulatedNetwork(),
    limits: { collectMs: () => cadence().collectMs },
    holds(): ClientError | null {
      const code = whyHeld(state, true)
      return code === null ? null : { code, status: 0, message: code }
    },
  })
  const record = (t: number) => queue.record({ ...POINT, timestamp: t })
  for (let i = 0; i < waiting; i++) await record(startMs - (i + 1) * 30_000)
  let readAt = startMs
  for (let ms = 0; ms < HOUR_MS; ms += STEP_MS) {
    clock.move(STEP_MS)
    if (pointMs > 0 && ms % pointMs === 0) await record(clock.now())
    if (isHidden) continue
    const { nextAttemptAt, why } = queue.state
    if (nextAttemptAt === null || nextAttemptAt <= clock.now()) await sendCollected()
    if (why === 'unauthorized') state = { ...state, signedOut: true }
    if (clock.now() - readAt < cadence().readMs) continue
    readAt = clock.now()
    count(0)
    if (cadence().readsProfile) count(0)
  }
  await queue.stop()
  const wakes = sentAt.filter((at, i) => i === 0 || at - sentAt[i - 1]! > AWAKE_MS).length
  return { requests: sentAt.length, kB: Math.round(bytes / 1_000), wakes, points, largest }

  /** As the app's sender does by itself: what is collected waits for its time. */
  async function sendCollected(): Promise<void> {
    queue.start()
    for (let turn = 0; turn < 40; turn++) await Promise.resolve()
    await new Promise((resolve) => setTimeout(resolve, 0))
    await queue.stop()
  }
}

/** Most in an hour: requests, kB up, wake-ups of the radio. */
const TABLE: readonly (readonly [Row, readonly [requests: number, kB: number, wakes: number]])[] = [
  [{ name: 'walking' }, [20, 120, 15]],
  [{ name: 'walking, followed', isFollowed: true }, [120, 120, 110]],
  [{ name: 'resting', state: { resting: true }, pointMs: 600_000 }, [12, 20, 8]],
  [{ name: 'resting, followed', state: { resting: true }, isFollowed: true, pointMs: 270_000 }, [24, 25, 18]],
  [{ name: 'not recording', state: { recording: false }, pointMs: 0 }, [60, 60, 30]],
  [{ name: 'hidden', isHidden: true, pointMs: 0 }, [0, 0, 0]],
  [{ name: 'paused, 600 wait', state: { event: 'paused' }, waiting: 600 }, [30, 25, 30]],
  [{ name: 'after 401, 600 wait', answer: refusal(401, 'unauthorized'), waiting: 600 }, [32, 100, 32]],
  [
    { name: 'consent taken back', state: { withdrawn: true, recording: false }, pointMs: 0, waiting: 600 },
    [60, 60, 30],
  ],
  [{ name: 'erased', state: { erased: true }, waiting: 600 }, [60, 60, 30]],
  [
    { name: '429', answer: refusal(429, 'rate-limited', { 'retry-after': '30' }), waiting: 600 },
    [130, 210, 120],
  ],
  [{ name: '503', answer: refusal(503, 'unavailable'), waiting: 600 }, [90, 170, 80]],
  [
    {
      name: 'a proxy that asks for a day',
      answer: refusal(503, null, { 'retry-after': '86400' }),
      waiting: 600,
    },
    [30, 100, 25],
  ],
]

const measurements: object[] = []
afterAll(() => console.table(measurements))

test.each(TABLE.map(([row, most]) => [row.name, row, most] as const))(
  '%s',
  async (_, row, [requests, kB, wakes]) => {
    const cost = await measured(row)
    measurements.push({ state: row.name, ...cost })
    expect(cost.requests).toBeLessThanOrEqual(requests)
    expect(cost.kB).toBeLessThanOrEqual(kB)
    expect(cost.wakes).toBeLessThanOrEqual(wakes)
    const isHeld = row.state?.event === 'paused' || row.state?.erased || row.state?.withdrawn
    if (isHeld) expect(cost.points).toBe(0)
    // After a refusal one point tries.
    if (row.answer !== undefined) expect(cost.points - cost.largest).toBeLessThan(cost.requests)
    if (row.name.startsWith('walking')) expect(cost.points).toBeGreaterThan(100)
  },
)

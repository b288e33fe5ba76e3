/**
 * Costs of a visible but untouched app, by state, in simulated time: requests, uploaded bytes, and wake-ups
 * of the radio. The real queue sends to a service with scripted responses.
 */
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
/** How long a radio stays awake after sending. */
const AWAKE_MS = 10_000
const WALKING: State = {
  ...INITIAL,
  opening: false,
  person: { userId: 'w-costs', name: 'Wang', privacyVersion: '1', known: true },
  event: 'active',
  recording: true,
}
/** Request line and headers of a browser, plus the response's: the traffic of a small read. */
const HEADERS_BYTES = 700
const POINT: Omit<RecordedPoint, 'timestamp'> = {
  lat: 24.147_123,
  lng: 120.673_456,
  accuracy: 8,
  altitude: 72,
  speed: 4.3,
  source: 'walk',
}

export interface AppRow {
  readonly name: string
  /** Maximum per hour. */
  readonly most: { readonly requests: number; readonly kB: number; readonly wakes: number }
  readonly state?: Partial<State>
  /** A live link is open, or this is the palanquin. */
  readonly isFollowed?: boolean
  /** Interval of points in milliseconds; 0: none. */
  readonly pointMs?: number
  readonly isHidden?: boolean
  readonly waiting?: number
  readonly answer?: () => Response
  readonly isOffline?: boolean
  /** Simulated hours; the costs are those of a mean hour. Default: 1. */
  readonly hours?: number
}

/** Costs of an average hour. */
export interface AppCost {
  readonly requests: number
  readonly kB: number
  readonly wakes: number
  /** Points in all requests. */
  readonly points: number
  /** Points in the largest request. */
  readonly largest: number
}

const refusal =
  (status: number, code: string | null, headers: Record<string, string> = {}) =>
  () =>
    code === null
      ? new Response('<p>Sign in</p>', { status, headers })
      : Response.json({ error: 'No.', code }, { status, headers })

/** There is no connection. */
const gone = (): never => {
  throw new TypeError('The connection was refused')
}

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

async function measureApp(row: AppRow): Promise<AppCost> {
  const { isFollowed = false, pointMs = 30_000, isHidden = false, waiting = 0, hours = 1 } = row
  const clock = simulatedClock()
  const startMs = clock.now()
  const sentAt: number[] = []
  let bytes = 0
  let points = 0
  let largest = 0
  const count = (size: number) => {
    sentAt.push(clock.now())
    // Offline, no bytes are uploaded.
    if (row.answer !== gone) bytes += size + HEADERS_BYTES
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
  const network = simulatedNetwork()
  network.set(row.isOffline !== true)
  const queue = createTrackQueue({
    client,
    store: createMemoryStore(),
    clock,
    network,
    limits: { collectMs: () => cadence().collectMs },
    holds(): ClientError | null {
      const code = whyHeld(state, true)
      return code === null ? null : { code, status: 0, message: code }
    },
  })
  const record = (t: number) => queue.record({ ...POINT, timestamp: t })
  for (let i = 0; i < waiting; i++) await record(startMs - (i + 1) * 30_000)
  let readAt = startMs
  for (let ms = 0; ms < hours * HOUR_MS; ms += STEP_MS) {
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
  return {
    requests: Math.round(sentAt.length / hours),
    kB: Math.round(bytes / 1_000 / hours),
    wakes: Math.round(wakes / hours),
    points,
    largest,
  }

  /** Like the app's automatic sender: collected points wait for their time. */
  async function sendCollected(): Promise<void> {
    queue.start()
    for (let turn = 0; turn < 40; turn++) await Promise.resolve()
    await new Promise((resolve) => setTimeout(resolve, 0))
    await queue.stop()
  }
}

const most = (requests: number, kB: number, wakes: number): AppRow['most'] => ({ requests, kB, wakes })
const RESTING = { resting: true }

/**
 * Whether the service or a proxy rejects the row's points, so that a single point is tried instead of a
 * batch.
 */
export const isRefused = ({ answer }: AppRow): boolean => answer !== undefined && answer !== gone

const APP_ROWS: readonly AppRow[] = [
  { name: 'walking', most: most(20, 120, 15) },
  { name: 'walking, followed', isFollowed: true, most: most(120, 120, 110) },
  { name: 'resting', state: RESTING, pointMs: 600_000, most: most(12, 20, 8) },
  { name: 'resting, followed', state: RESTING, isFollowed: true, pointMs: 270_000, most: most(24, 25, 18) },
  { name: 'not recording', state: { recording: false }, pointMs: 0, most: most(60, 60, 30) },
  { name: 'out of sight', isHidden: true, pointMs: 0, most: most(0, 0, 0) },
  { name: 'offline for a day', isOffline: true, answer: gone, hours: 24, most: most(80, 0, 70) },
  {
    name: 'paused for five hours, 600 points wait',
    state: { event: 'paused' },
    waiting: 600,
    hours: 5,
    most: most(30, 25, 30),
  },
  {
    name: 'log-in expired (401), 600 points wait',
    answer: refusal(401, 'unauthorized'),
    waiting: 600,
    most: most(32, 100, 32),
  },
  {
    name: 'consent taken back (403), 600 points wait',
    state: { withdrawn: true, recording: false },
    pointMs: 0,
    waiting: 600,
    most: most(60, 60, 30),
  },
  {
    name: 'erased elsewhere (410), 600 points wait',
    state: { erased: true },
    waiting: 600,
    most: most(60, 60, 30),
  },
  {
    name: '429 with `Retry-After: 30` to every point',
    answer: refusal(429, 'rate-limited', { 'retry-after': '30' }),
    waiting: 600,
    most: most(130, 210, 120),
  },
  { name: '503 to every point', answer: refusal(503, 'unavailable'), waiting: 600, most: most(90, 170, 80) },
  {
    name: 'a proxy’s 503 with `Retry-After` of a day',
    answer: refusal(503, null, { 'retry-after': '86400' }),
    waiting: 600,
    most: most(30, 100, 25),
  },
  { name: 'a Wi-Fi’s sign-in page', answer: refusal(200, null), waiting: 600, most: most(90, 170, 80) },
  { name: 'the service does not answer', answer: gone, waiting: 600, most: most(90, 0, 80) },
]

/** Number of recorders of the largest planned event. */
const PHONES = 250_000

/** Measures every row, one after the other. */
export async function measureAppRows(): Promise<readonly (readonly [AppRow, AppCost])[]> {
  const all: (readonly [AppRow, AppCost])[] = []
  for (const row of APP_ROWS) all.push([row, await measureApp(row)])
  return all
}

/** The table of `tests/tools/bench/README.md`. */
export const appTable = (measured: readonly (readonly [AppRow, AppCost])[]): string =>
  [
    '| state | requests a minute | kB up an hour | radio wake-ups an hour | 250,000 phones: requests a second |',
    '| --- | --- | --- | --- | --- |',
    ...measured.map(([{ name }, { requests, kB, wakes }]) => {
      const all = Math.round((requests * PHONES) / 3_600).toLocaleString('en')
      return `| ${name} | ${(requests / 60).toFixed(2)} | ${kB} | ${wakes} | ${all} |`
    }),
  ].join('\n')

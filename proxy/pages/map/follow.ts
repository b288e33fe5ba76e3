/**
 * Follows the event: requests changes about every twelve seconds. While the page is hidden it requests them once a
 * minute for a reader who waits at a station, otherwise not at all.
 */
import {
  type Client,
  createClient,
  type EventMap,
  type EventMapDelta,
  type EventRoute,
} from '#shared/client/index.ts'
import { waits } from './my-station.ts'
import { connected, GONE_MS, merged, news, nowMs, route, setClock, tick } from './state.ts'
import { offerLanguages } from '../frame/language.ts'
import { remember, remembered } from '../frame/storage.ts'

const NAME = 'map-4'
/** Older news are useless. */
const LONGEST_KEPT_MS = 30 * 86_400_000

interface Kept {
  readonly news: EventMap
  readonly route: EventRoute | null
  /** Lead of the service's clock over the browser's. */
  readonly aheadMs: number
}

function keep(): void {
  if (news.value === null) return
  const stored: Kept = { news: news.value, route: route.value, aheadMs: nowMs.value - Date.now() }
  remember(NAME, JSON.stringify(stored))
}

function restore(): void {
  const text = remembered(NAME)
  if (text === null) return
  try {
    const stored = JSON.parse(text) as Kept
    const [asOfMs, startsMs] = [Date.parse(stored.news.as_of), Date.now() + stored.aheadMs]
    if (startsMs - asOfMs > LONGEST_KEPT_MS) return
    // If the clock was set back, the age is unknown: mark the data as outdated.
    setClock(startsMs < asOfMs ? asOfMs + GONE_MS : startsMs)
    route.value = stored.route
    news.value = stored.news
    offerLanguages(stored.news.event)
  } catch {
    // The stored value has another release's format: the next answer replaces it.
    remember(NAME, null)
  }
}

/** Readers request at different moments, so that they do not all come at once. */
const EVERY_MS = 10_000
const SPREAD_MS = 5_000
const HIDDEN_MS = 60_000
/** Maximum pause after failures. */
const LONGEST_MS = 60_000
const TIMEOUT_MS = 15_000
const KEEP_MS = 60_000
const TICK_MS = 5_000

/** Starts to follow, until the page is closed. */
export function follow(client: Client = createClient({ baseUrl: '' })): void {
  restore()
  let timer: ReturnType<typeof setTimeout> | undefined
  let asking = false
  let failures = 0
  let keptMs = 0

  async function ask(): Promise<void> {
    if (asking) return
    asking = true
    clearTimeout(timer)
    const answered = await askOnce(client)
    asking = false
    connected.value = answered
    failures = answered ? 0 : failures + 1
    if (answered && nowMs.value - keptMs > KEEP_MS) {
      keptMs = nowMs.value
      keep()
    }
    if (!document.hidden || waits())
      timer = setTimeout(() => void ask(), Math.max(pauseMs(failures), askedToWaitMs))
  }

  addEventListener('online', () => void ask())
  addEventListener('offline', () => (connected.value = false))
  addEventListener('pagehide', keep)
  document.addEventListener('visibilitychange', () => {
    tick()
    if (document.hidden) keep()
    else void ask()
  })
  setInterval(tick, TICK_MS)
  void ask()
}

function pauseMs(failures: number): number {
  const least = document.hidden ? HIDDEN_MS : EVERY_MS
  const every = Math.min(LONGEST_MS, least * 2 ** Math.max(0, failures - 1))
  return every + Math.random() * SPREAD_MS
}

/** The service's last `Retry-After`. */
let askedToWaitMs = 0
let etag: string | undefined
let asked: number | null = null

/** @returns whether the service answered */
async function askOnce(client: Client): Promise<boolean> {
  const known = news.value
  const since = known?.version ?? null
  if (since !== asked) etag = undefined
  asked = since
  const answer = await client.readEventMap(since === null ? {} : { since: String(since) }, {
    timeoutMs: TIMEOUT_MS,
    ...(etag === undefined ? {} : { ifNoneMatch: etag }),
  })
  askedToWaitMs = answer.ok ? 0 : (answer.error.retryAfter ?? 0) * 1_000
  if (!answer.ok) return answer.error.code === 'not-modified'
  const { headers } = answer
  etag = headers.get('etag') ?? undefined
  const sent = Date.parse(headers.get('date') ?? '')
  if (!Number.isNaN(sent)) setClock(sent + Number(headers.get('age') ?? 0) * 1_000)
  news.value = next(known, answer.data)
  if (news.value !== null) offerLanguages(news.value.event)
  await readRoute(client)
  return true
}

const next = (known: EventMap | null, data: EventMap | EventMapDelta): EventMap | null => {
  if (data.since === null) return data
  return known !== null && known.version === data.since ? merged(known, data) : known
}

async function readRoute(client: Client): Promise<void> {
  const version = news.value?.event.route ?? null
  if ((route.value?.version ?? null) === version) return
  if (version === null) route.value = null
  else {
    const answer = await client.readRoute({ v: version })
    if (answer.ok) route.value = answer.data
  }
}

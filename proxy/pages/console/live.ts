/**
 * Live data from the operators' stream, which reconnects by itself. If no stream gets through, and for
 * volunteers, who may not open one, the status is polled.
 */
import { computed, signal } from '@preact/signals'
import type { Data, StreamEvent, StreamEvents } from '#shared/client/index.ts'
import { client, endSession, level, MANAGER } from './session.ts'
import { addCounts, clearRates } from './rates.ts'
import { heard, heardAt, isSilent, secondsLeft } from './resource.ts'
import { consoleLanguage } from './words.ts'

/** `live`: by the stream; `polling`: by polling; `lost`: the service cannot be reached. */
type Connection = 'opening' | 'live' | 'polling' | 'lost'

export const connection = signal<Connection>('opening')
/** The service is unreachable: a figure counts as current only while it is recent. */
export const isCutOff = computed(() => isSilent.value || connection.value === 'lost')
export const status = signal<StreamEvents['status'] | null>(null)
/** The organisers' message, in the operator's language if available; null: none. */
export const messageText = (of: Pick<StreamEvents['status'], 'message' | 'messages'> | null): string | null =>
  of?.messages?.[consoleLanguage.value] ?? of?.message ?? null
export const ending = signal<Data<'readStatus'>['ending']>(null)
export const incident = signal<StreamEvents['snapshot']['incident']>(null)
/** Incremented with each change of positions, so that the map reads its cells again. */
export const moved = signal(0)

const POLL_MS = 10_000
/**
 * Only the arrival of stream cells matters, so the coarsest zoom is enough: a few cells instead of thousands.
 */
const ZOOM = 6
/** Consecutive interruptions after which the status is polled as well. */
const PATIENCE = 2

function take(event: Exclude<StreamEvent, { event: 'interrupted' }>): void {
  heard()
  connection.value = 'live'
  if (event.event === 'snapshot') {
    status.value = event.data.status ?? status.value
    ending.value = event.data.ending
    incident.value = event.data.incident
    moved.value++
  } else if (event.event === 'status') status.value = event.data
  else if (event.event === 'ending') ending.value = event.data
  else if (event.event === 'cells') moved.value++
  else if (event.event === 'alert')
    incident.value = event.data.state === 'recovered' ? null : event.data.incident
  const counts = event.event === 'snapshot' ? event.data.counts : event.event === 'counts' ? event.data : null
  if (counts !== null) addCounts(counts)
}

async function poll(): Promise<void> {
  if (secondsLeft.value > 0) return
  const answer = await client.readStatus()
  if (answer.ok) {
    const { ending: progress, ...rest } = answer.data
    heard()
    status.value = rest
    ending.value = progress
    moved.value++
    if (connection.value !== 'live') connection.value = 'polling'
  } else if (answer.error.status === 0 || answer.error.status >= 500) connection.value = 'lost'
}

function pollUntil(stopped: AbortSignal): number {
  void poll()
  const timer = window.setInterval(() => void poll(), POLL_MS)
  stopped.addEventListener('abort', () => clearInterval(timer))
  return timer
}

async function follow(stopped: AbortSignal): Promise<void> {
  let failures = 0
  let timer: number | undefined
  for await (const event of client.stream({ zoom: ZOOM, signal: stopped })) {
    if (event.event !== 'interrupted') {
      failures = 0
      clearInterval(timer)
      timer = undefined
      take(event)
      continue
    }
    const { error, retryInMs } = event.data
    if (error.status === 401) return endSession('refused')
    if (connection.value === 'live') connection.value = 'lost'
    // A permanent rejection, perhaps by a proxy in between, is not retried.
    if (++failures >= PATIENCE || retryInMs === null) timer ??= pollUntil(stopped)
  }
}

/** Follows the event for this session. @returns a function that stops it */
export function startLive(): () => void {
  const abort = new AbortController()
  connection.value = 'opening'
  clearRates()
  if (level.value >= MANAGER) void follow(abort.signal)
  else pollUntil(abort.signal)
  const offline = () => (connection.value = 'lost')
  const online = () => void poll()
  addEventListener('offline', offline)
  addEventListener('online', online)
  return () => {
    abort.abort()
    removeEventListener('offline', offline)
    removeEventListener('online', online)
    for (const figure of [status, ending, incident, heardAt]) figure.value = null
  }
}

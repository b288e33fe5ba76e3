/** The operators' events: server-sent events by fetch, because EventSource cannot send a token. */
import { type ClientError, exchange, type Failure, failure, type Fetch, readRefusal } from './answer.ts'
import type { StreamEvents } from './api.ts'
import { backoffMs, isTemporary, sleep } from './request-backoff.ts'

/** An event of the service, or a report of an interrupted connection. */
export type StreamEvent =
  | {
      [N in keyof StreamEvents]: { readonly event: N; readonly data: StreamEvents[N]; readonly id: string }
    }[keyof StreamEvents]
  | Interruption

/**
 * The connection was interrupted. The reconnection starts with a `snapshot`, which tells whether events were missed.
 */
export interface Interruption {
  readonly event: 'interrupted'
  /** `retryInMs` is null when the service refuses for good: then the stream ends. */
  readonly data: { readonly error: ClientError; readonly retryInMs: number | null }
}

export interface StreamOptions {
  /** Zoom of the map cells, 6 to 18; 10 unless given. */
  readonly zoom?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** The `id` of the last handled event: the stream starts with the events since then. */
  readonly lastEventId?: string | undefined
}

interface Connection {
  readonly signal: AbortSignal | undefined
  readonly lastEventId: string | undefined
  readonly timeoutMs: number
}

/** Silence after which the connection is considered lost; the service sends every 10 s. */
const SILENCE_MS = 30_000

export async function* openStream(
  send: Fetch,
  request: () => Promise<{
    readonly url: string
    readonly init: RequestInit & { readonly headers: Headers }
  }>,
  { signal, lastEventId: lastId, timeoutMs }: Connection,
): AsyncGenerator<StreamEvent, void, undefined> {
  let failures = 0
  while (!signal?.aborted) {
    const connection = new AbortController()
    let openedMs = Infinity
    const leave = () => connection.abort()
    signal?.addEventListener('abort', leave)
    let lost: Failure = failure('network', 'The connection broke off.')
    try {
      const { url, init } = await request()
      if (lastId) init.headers.set('last-event-id', lastId)
      // The timeout ends with the headers, but the connection must not.
      const opened = await exchange(
        (to, limited) => connected(send, to, limited, connection),
        url,
        init,
        { timeoutMs, signal },
        async (response): Promise<ReadableStream<Uint8Array> | Failure> =>
          response.ok && response.body ? response.body : readRefusal(response),
      )
      if ('ok' in opened) lost = opened
      else {
        openedMs = performance.now()
        for await (const event of readEvents(opened, leave)) {
          lastId = event.id || lastId
          yield event
        }
      }
    } catch (error) {
      // The token could not be read, or an event is not JSON.
      lost = failure('unexpected', (error as Error).message)
    } finally {
      leave()
      signal?.removeEventListener('abort', leave)
    }
    if (signal?.aborted) return
    // A connection that breaks at once counts as a failure, even if its first event arrived.
    if (performance.now() - openedMs > SILENCE_MS) failures = 0
    const { error } = lost
    const retryInMs = isTemporary(error) ? backoffMs(failures++, error.retryAfter, Math.random()) : null
    yield { event: 'interrupted', data: { error, retryInMs } }
    if (retryInMs === null) return
    await sleep(retryInMs, signal)
  }
}

/** Sends with the connection's own signal; the timeout of `exchange` aborts it until the headers arrive. */
async function connected(
  send: Fetch,
  url: string,
  init: RequestInit,
  connection: AbortController,
): Promise<Response> {
  const leave = () => connection.abort()
  init.signal?.addEventListener('abort', leave)
  const response = await send(url, { ...init, signal: connection.signal })
  init.signal?.removeEventListener('abort', leave)
  return response
}

type Event = Exclude<StreamEvent, Interruption>

/** Parses server-sent events until the body ends, breaks, or is silent. */
async function* readEvents(body: ReadableStream<Uint8Array>, leave: () => void): AsyncGenerator<Event> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const timer = setTimeout(leave, SILENCE_MS)
    // However it ended, the caller reconnects.
    const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }))
    clearTimeout(timer)
    if (done) return
    const blocks = (text + decoder.decode(value, { stream: true })).replaceAll('\r\n', '\n').split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1]
      const event = field('event')
      const data = field('data')
      if (event && data) yield { event, data: JSON.parse(data), id: field('id') ?? '' } as Event
    }
  }
}

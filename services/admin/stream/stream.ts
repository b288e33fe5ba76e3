/**
 * `GET admin/stream`: server-sent events. A client first gets missed events, if it sends Last-Event-ID, and then a
 * snapshot. Any replica can resume a stream. Without clients the stores are not polled.
 */
import type { ServiceContext } from '#shared/service/context.ts'
import { time } from '#shared/contracts/fields.ts'
import { isStoreUnavailable } from '#shared/stores/repeated-work.ts'
import { unavailable } from '#shared/runtime/refusal.ts'
import type { Moved } from '#shared/stores/kv/kv.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { cellsOf } from './counts.ts'
import { type Cursor, readCursor, readMissed, writeCursor } from './cursor.ts'
import { startWatch, type Watch } from './watch.ts'
import type { StreamData, StreamEventName } from '#shared/contracts/stream.ts'

const MAX_READERS = 500
const RETRY_AFTER_S = 30
const HEARTBEAT_MS = 10_000
/** Seconds that a disconnected client has to read what is queued. */
const LINGER_S = 5

const HEADERS = { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-store' }

export interface Stream {
  /** Opens a stream. @throws Refusal 503 when too many are open, or the service is stopping */
  open(request: Request, zoom: number): Response
  size(): number
}

function createAudience(context: ServiceContext, heartbeatMs: number) {
  const readers = new Set<Reader>()
  let watch: Watch | null = null
  let heartbeat: Timer | undefined

  const broadcast = (bytes: Uint8Array): void => {
    for (const reader of readers) reader.send(bytes)
  }
  const startBroadcast = (): Watch => {
    const started = startWatch(context, {
      // A poll may end after its watch was stopped.
      event(name, data) {
        if (watch === started) broadcast(encode(writeCursor(started.cursor), name, data))
      },
      moved(positions) {
        if (watch === started) broadcastCells(context, readers, started.cursor, positions)
      },
    })
    heartbeat = setInterval(() => broadcast(HEARTBEAT), heartbeatMs)
    return started
  }
  return {
    readers,
    join(reader: Reader): Watch {
      readers.add(reader)
      return (watch ??= startBroadcast())
    },
    leave(reader: Reader): void {
      readers.delete(reader)
      if (readers.size > 0) return
      watch?.stop()
      clearInterval(heartbeat)
      watch = null
    },
  }
}

export function createStream(
  context: ServiceContext,
  { maxReaders = MAX_READERS, heartbeatMs = HEARTBEAT_MS } = {},
): Stream {
  const { stopping, metrics, idleAfter } = context
  const { readers, join, leave } = createAudience(context, heartbeatMs)
  stopping.addEventListener('abort', () => {
    for (const reader of readers) reader.end()
  })
  metrics.gauge('event_stream_clients', () => readers.size)
  return {
    size: () => readers.size,
    open(request, zoom) {
      if (stopping.aborted) throw unavailable('The service is restarting. Please try again in a moment.')
      // The answer to HEAD has no body.
      if (request.method === 'HEAD') return new Response(null, { headers: HEADERS })
      if (readers.size >= maxReaders)
        throw unavailable('Too many streams are open. Close one, or try again later.', RETRY_AFTER_S)
      const reader = createReader(zoom, (why) => {
        leave(reader)
        metrics.count('event_stream_closed_total', { why })
        if (why !== 'left') idleAfter(request, LINGER_S)
      })
      // The client sends nothing on this connection, so it has no idle timeout.
      idleAfter(request, 0)
      void begin(context, reader, join(reader), readCursor(request.headers.get('last-event-id')))
      return new Response(reader.body, { headers: HEADERS })
    },
  }
}

/** Sends missed events, then the snapshot, then events as they happen. */
async function begin(
  context: ServiceContext,
  reader: Reader,
  watch: Watch,
  from: Cursor | null,
): Promise<void> {
  await watch.ready
  const { log, now } = context
  // Events from this point on are sent after the snapshot.
  reader.listen()
  const to = { ...watch.cursor }
  const snapshot = { at: time(now()), ...watch.seen }
  const missed =
    from === null
      ? null
      : await readMissed(context, from, to).catch((error: unknown) => {
          if (!isStoreUnavailable(error))
            log.error('reading the missed events of a stream failed', errorFields(error))
          return null
        })
  const first: Uint8Array[] = [GREETING]
  for (const { id, seen } of missed?.changes ?? [])
    first.push(encode(writeCursor({ change: id, movedMs: from!.movedMs }), 'status', seen))
  if (missed !== null && missed.moved.length > 0)
    first.push(encode(writeCursor(to), 'cells', cellsOf(missed.moved, reader.zoom, now())))
  first.push(encode(writeCursor(to), 'snapshot', { ...snapshot, resumed: missed !== null }))
  reader.begin(first)
}

/** Sends cells to all clients. Each zoom is counted and encoded once. */
function broadcastCells(
  { now }: ServiceContext,
  readers: ReadonlySet<Reader>,
  cursor: Cursor,
  positions: readonly Moved[],
): void {
  const byZoom = new Map<number, Uint8Array>()
  for (const reader of readers) {
    let bytes = byZoom.get(reader.zoom)
    if (bytes === undefined) {
      bytes = encode(writeCursor(cursor), 'cells', cellsOf(positions, reader.zoom, now()))
      byZoom.set(reader.zoom, bytes)
    }
    reader.send(bytes)
  }
}

/** A client further behind is disconnected and resumes with Last-Event-ID. Larger than the largest event. */
const QUEUE_BYTES = 256 * 1_024

const encoder = new TextEncoder()

/** A comment, which shows proxies and clients that the connection is alive. */
const HEARTBEAT = encoder.encode(': \n\n')
/** The first bytes: how long a client waits before it reconnects, in milliseconds. */
const GREETING = encoder.encode('retry: 2000\n\n')

const encode = <N extends StreamEventName>(id: string, name: N, data: StreamData<N>): Uint8Array =>
  encoder.encode(`id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`)

type Reader = ReturnType<typeof createReader>

/** @param gone called once, when the stream has ended; `slow` when the client did not read */
export function createReader(zoom: number, gone: (why: 'left' | 'slow' | 'ended') => void) {
  let sink: ReadableStreamDefaultController<Uint8Array> | null = null
  let queued: Uint8Array[] = []
  let queuedBytes = 0
  let state: 'idle' | 'listening' | 'begun' = 'idle'
  const leave = (why: 'left' | 'slow' | 'ended'): void => {
    if (sink === null) return
    if (why !== 'left') sink.close()
    sink = null
    queued = []
    gone(why)
  }
  const write = (bytes: Uint8Array): void => {
    if (sink === null) return
    if ((sink.desiredSize ?? 0) < bytes.byteLength) leave('slow')
    else sink.enqueue(bytes)
  }
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => void (sink = controller),
      cancel: () => leave('left'),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: QUEUE_BYTES }),
  )
  return {
    zoom,
    body,
    /** Starts queueing events for `begin`. Earlier ones are dropped. */
    listen(): void {
      state = 'listening'
    },
    /** Sends these events, then the queued ones. After that, events are sent immediately. */
    begin(first: readonly Uint8Array[]): void {
      state = 'begun'
      for (const bytes of [...first, ...queued]) write(bytes)
      queued = []
    },
    send(bytes: Uint8Array): void {
      if (state === 'begun') write(bytes)
      if (state !== 'listening') return
      // The beginning may wait for a store that hangs.
      queuedBytes += bytes.byteLength
      if (queuedBytes > QUEUE_BYTES) leave('slow')
      else queued.push(bytes)
    },
    /** Ends the answer after the queued events. */
    end: (): void => leave('ended'),
  }
}

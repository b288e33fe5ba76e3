/**
 * `GET admin/stream`: what happens, told as it happens. A client begins with what stands, after what it has missed
 * where it says how far it had read; any replica can tell it. Nothing is looked at while nobody listens.
 */
import type { ServiceContext } from '#shared/runtime/context.ts'
import { time } from '#shared/contracts/fields.ts'
import { isDatabaseUnavailable } from '#shared/db/db.ts'
import { unavailable } from '#shared/http/errors.ts'
import { isKvUnavailable, type Moved } from '#shared/kv/kv.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { cellsOf } from './cells.ts'
import { type Cursor, readCursor, readMissed, writeCursor } from './cursor.ts'
import { createReader, encode, GREETING, HEARTBEAT, type Reader } from './reader.ts'
import { startWatch, type Watch } from './watch.ts'

/** Streams that one process keeps open. */
const MAX_READERS = 500
const RETRY_AFTER_S = 30
const HEARTBEAT_MS = 10_000
/** A client that was let go gets this long to read what is queued. */
const LINGER_S = 5

const HEADERS = { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-store' }

export interface Stream {
  /** Answers with events from now on. @throws Refusal 503 when too many listen, or the service is stopping */
  open(request: Request, zoom: number): Response
  /** How many listen. */
  size(): number
}

/** Those who listen, and the watch that they share while there are any. */
function createAudience(context: ServiceContext, heartbeatMs: number) {
  const readers = new Set<Reader>()
  let watch: Watch | null = null
  let heartbeat: Timer | undefined

  const tell = (bytes: Uint8Array): void => {
    for (const reader of readers) reader.send(bytes)
  }
  const startTelling = (): Watch => {
    const started = startWatch(context, {
      // A look may end after its watch was stopped.
      event(name, data) {
        if (watch === started) tell(encode(writeCursor(started.cursor), name, data))
      },
      moved(positions) {
        if (watch === started) tellCells(context, readers, started.cursor, positions)
      },
    })
    heartbeat = setInterval(() => tell(HEARTBEAT), heartbeatMs)
    return started
  }
  return {
    readers,
    join(reader: Reader): Watch {
      readers.add(reader)
      return (watch ??= startTelling())
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
  metrics.gauge('event_stream_clients', 'Open event streams', () => readers.size)
  return {
    size: () => readers.size,
    open(request, zoom) {
      if (stopping.aborted) throw unavailable('The service is being restarted: please try again in a moment.')
      // Nobody would read what a HEAD is answered.
      if (request.method === 'HEAD') return new Response(null, { headers: HEADERS })
      if (readers.size >= maxReaders)
        throw unavailable('Too many streams are open: close one, or try again later.', RETRY_AFTER_S)
      const reader = createReader(zoom, (why) => {
        leave(reader)
        metrics.count('event_stream_closed_total', 'Event streams that ended, by reason', { why })
        if (why !== 'left') idleAfter(request, LINGER_S)
      })
      // Such a connection is silent on the client's side.
      idleAfter(request, 0)
      void begin(context, reader, join(reader), readCursor(request.headers.get('last-event-id')))
      return new Response(reader.body, { headers: HEADERS })
    },
  }
}

/** What was missed, what stands, and from then on what happens. */
async function begin(
  context: ServiceContext,
  reader: Reader,
  watch: Watch,
  from: Cursor | null,
): Promise<void> {
  await watch.ready
  const { log, now } = context
  // What stands is told first; what happens while it is being told, after it.
  reader.listen()
  const to = { ...watch.cursor }
  const snapshot = { at: time(now()), ...watch.seen }
  const missed =
    from === null
      ? null
      : await readMissed(context, from, to).catch((error: unknown) => {
          if (!isDatabaseUnavailable(error) && !isKvUnavailable(error))
            log.error('what a client of the stream has missed can not be read', errorFields(error))
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

/** Each zoom is counted and written once, however many look at it. */
function tellCells(
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

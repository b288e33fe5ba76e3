/** One client of the stream: a bounded queue, so that a client that does not read uses bounded memory. */
import type { StreamData, StreamEventName } from '#shared/contracts/stream.ts'

/** A client further behind is disconnected and resumes with Last-Event-ID. Larger than the largest event. */
const QUEUE_BYTES = 256 * 1_024

const encoder = new TextEncoder()

/** A comment, which shows proxies and clients that the connection is alive. */
export const HEARTBEAT = encoder.encode(': \n\n')
/** The first bytes: how long a client waits before it reconnects, in milliseconds. */
export const GREETING = encoder.encode('retry: 2000\n\n')

/** Encodes an event. JSON contains no line breaks. */
export const encode = <N extends StreamEventName>(id: string, name: N, data: StreamData<N>): Uint8Array =>
  encoder.encode(`id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`)

export interface Reader {
  /** Zoom of the cells that this client requested. */
  readonly zoom: number
  readonly body: ReadableStream<Uint8Array>
  /** From now on, events that are sent are queued for `begin`. Earlier ones are dropped. */
  listen(): void
  /** Sends these events, then the queued ones. From now on, events are sent immediately. */
  begin(first: readonly Uint8Array[]): void
  send(bytes: Uint8Array): void
  /** Ends the answer after the queued events. */
  end(): void
}

/** @param gone called once, when the stream has ended; `slow` when the client did not read */
export function createReader(zoom: number, gone: (why: 'left' | 'slow' | 'ended') => void): Reader {
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
    listen() {
      state = 'listening'
    },
    begin(first) {
      state = 'begun'
      for (const bytes of [...first, ...queued]) write(bytes)
      queued = []
    },
    send(bytes) {
      if (state === 'begun') write(bytes)
      if (state !== 'listening') return
      // The beginning may wait for a store that hangs.
      queuedBytes += bytes.byteLength
      if (queuedBytes > QUEUE_BYTES) leave('slow')
      else queued.push(bytes)
    },
    end: () => leave('ended'),
  }
}

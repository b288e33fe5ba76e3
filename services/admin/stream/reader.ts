/** One client of the stream: a queue with a bound, so that one who does not read costs nobody anything. */
import type { StreamData, StreamEventName } from '#shared/contracts/stream.ts'

/** A client further behind than this is let go; it comes back with Last-Event-ID. Above the largest event. */
const QUEUE_BYTES = 256 * 1_024

const encoder = new TextEncoder()

/** A comment: keeps proxies and clients sure that somebody is there. */
export const HEARTBEAT = encoder.encode(': \n\n')
/** The first bytes: how long a client waits before it comes back, in milliseconds. */
export const GREETING = encoder.encode('retry: 2000\n\n')

/** An event as it travels. JSON has no line breaks of its own. */
export const encode = <N extends StreamEventName>(id: string, name: N, data: StreamData<N>): Uint8Array =>
  encoder.encode(`id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`)

export interface Reader {
  /** Of the cells that this client wants. */
  readonly zoom: number
  readonly body: ReadableStream<Uint8Array>
  /** From now on what is sent is kept for `begin`; before, it is nothing to this client. */
  listen(): void
  /** Sends these, then what was kept, and from now on what comes. */
  begin(first: readonly Uint8Array[]): void
  send(bytes: Uint8Array): void
  /** Ends the answer after what is queued. */
  end(): void
}

/** @param gone called once, when nothing can be sent any more: `slow` where the client did not read */
export function createReader(zoom: number, gone: (why: 'left' | 'slow' | 'ended') => void): Reader {
  let sink: ReadableStreamDefaultController<Uint8Array> | null = null
  let held: Uint8Array[] = []
  let state: 'deaf' | 'listening' | 'begun' = 'deaf'
  const leave = (why: 'left' | 'slow' | 'ended'): void => {
    if (sink === null) return
    if (why !== 'left') sink.close()
    sink = null
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
      for (const bytes of [...first, ...held]) write(bytes)
      held = []
    },
    send(bytes) {
      if (state === 'begun') write(bytes)
      else if (state === 'listening') held.push(bytes)
    },
    end: () => leave('ended'),
  }
}

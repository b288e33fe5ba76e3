/** A client of `GET admin/stream`: reads events and checks each against its contract. */
import { z } from 'zod'
import { STREAM_EVENTS, type StreamData, type StreamEventName } from '#shared/contracts/stream.ts'
import { until } from './wait.ts'

type EventByName = {
  [N in StreamEventName]: { readonly id: string; readonly event: N; readonly data: StreamData<N> }
}
export type StreamEvent = EventByName[StreamEventName]

export interface EventStream {
  /** All events so far. */
  readonly events: readonly StreamEvent[]
  /** Comments so far. */
  readonly heartbeats: number
  /** The id for `Last-Event-ID`. */
  readonly lastId: string
  /** Whether the service has ended the answer. */
  readonly ended: boolean
  all<N extends StreamEventName>(event: N): StreamData<N>[]
  /** Waits for an event with this name that meets the condition. */
  next<N extends StreamEventName>(
    event: N,
    holds?: (data: StreamData<N>) => boolean,
    timeoutMs?: number,
  ): Promise<StreamData<N>>
  close(): void
}

const Name = z.enum(Object.keys(STREAM_EVENTS) as [StreamEventName])

function parse(block: string): StreamEvent {
  const fields = Object.fromEntries(
    block.split('\n').map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
  )
  const event = Name.parse(fields.event)
  const given: unknown = JSON.parse(fields.data ?? '')
  const data = z.strictObject(STREAM_EVENTS[event].shape).parse(given)
  return { id: z.string().min(1).parse(fields.id), event, data } as unknown as StreamEvent
}

/** Reads a stream from its first byte, in the background. */
export function readEvents(body: ReadableStream<Uint8Array>): EventStream {
  const events: StreamEvent[] = []
  let heartbeats = 0
  let ended = false
  let closed = false
  let fault: unknown
  const reader = body.getReader()
  const run = async () => {
    const decoder = new TextDecoder()
    let rest = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n')
      rest = blocks.pop()!
      for (const block of blocks)
        if (block.startsWith(':')) heartbeats++
        else if (!block.startsWith('retry: ')) events.push(parse(block))
    }
    ended = true
  }
  run().catch((error: unknown) => {
    if (!closed) fault = error
  })
  const all = <N extends StreamEventName>(event: N) =>
    events.flatMap((one) => (one.event === event ? [one.data as StreamData<N>] : []))
  return {
    events,
    get heartbeats() {
      return heartbeats
    },
    get lastId() {
      return events.at(-1)?.id ?? ''
    },
    get ended() {
      if (fault !== undefined) throw fault
      return ended
    },
    all,
    next: (event, holds = () => true, timeoutMs = 15_000) =>
      until(
        () => {
          if (fault !== undefined) throw fault
          return all(event).find(holds)
        },
        `an event ${event}`,
        { timeoutMs },
      ) as Promise<StreamData<typeof event>>,
    close() {
      closed = true
      void reader.cancel().catch(() => undefined)
    },
  }
}

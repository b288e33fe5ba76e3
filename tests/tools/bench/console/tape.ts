/** The operators' stream, recorded from the real service, and replayed to a page in the page's own time. */
import type { Page } from 'playwright-core'
import type { RealTestStack } from '#tests/helpers/test-stack-real.ts'

interface Recorded {
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
}

export interface Tape {
  readonly snapshot: Recorded
  /** Messages by second. */
  readonly seconds: readonly (readonly Recorded[])[]
  /** Total bytes of the messages as sent. */
  readonly bytes: number
}

/** Records the stream for some seconds, as the console opens it. */
export async function recordStream(stack: RealTestStack, token: string, seconds: number): Promise<Tape> {
  const answer = await fetch(`https://localhost:${stack.port}/api/event/admin/stream?zoom=6`, {
    headers: { 'X-Admin-Token': token },
    tls: { ca: stack.ca },
  })
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  const recorded: Recorded[][] = Array.from({ length: seconds }, () => [])
  let snapshot: Recorded | null = null
  let bytes = 0
  let text = ''
  let startedMs = performance.now()
  for (;;) {
    const { done, value } = await reader.read()
    const second = Math.floor((performance.now() - startedMs) / 1_000)
    if (done || second >= seconds) break
    const blocks = (text + value).split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const event = /^event: (.*)$/m.exec(block)?.[1]
      const data = /^data: (.*)$/m.exec(block)?.[1]
      if (event === undefined || data === undefined) continue
      const one = { event, data: JSON.parse(data) as Recorded['data'] }
      if (event === 'snapshot') {
        snapshot = one
        startedMs = performance.now()
        continue
      }
      recorded[second]!.push(one)
      bytes += block.length + 2
    }
  }
  await reader.cancel()
  if (snapshot === null) throw new Error('the stream has sent no snapshot')
  return { snapshot, seconds: recorded, bytes }
}

/** Functions that the page offers to the measurement. */
export interface Played {
  /** Messages that the page got. */
  messages(): number
  /** Resolves when the page has no request in progress. */
  idle(): Promise<void>
}

interface Clock {
  readonly controller: { runFor(ms: number): Promise<void> }
  readonly builtins: { setTimeout: typeof setTimeout }
}

/**
 * Replaces the page's stream by the tape in a loop, one second of the tape per second of the page's clock.
 */
export const playTape = (page: Page, tape: Tape): Promise<unknown> =>
  page.addInitScript(({ snapshot, seconds }) => {
    const { fetch } = globalThis
    const encoder = new TextEncoder()
    let sink: ReadableStreamDefaultController<Uint8Array> | null = null
    let [messages, busy, second] = [0, 0, 0]
    const track = <T>(promise: Promise<T>): Promise<T> => {
      busy++
      return promise.finally(() => busy--)
    }
    const send = ({ event, data }: Recorded) => {
      const at = new Date(Date.now()).toISOString()
      const counts = data['counts'] as object | undefined
      const now = { ...data, at, ...(counts ? { counts: { ...counts, at } } : {}) }
      messages++
      sink?.enqueue(encoder.encode(`id: 1.${Date.now()}\nevent: ${event}\ndata: ${JSON.stringify(now)}\n\n`))
    }
    const stream = (): Response => {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          sink = controller
          send(snapshot)
        },
      })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    }
    globalThis.fetch = ((input: RequestInfo | URL, init?: RequestInit) => {
      const url = input instanceof Request ? input.url : String(input)
      return url.includes('/admin/stream') ? Promise.resolve(stream()) : track(fetch(input, init))
    }) as typeof globalThis.fetch
    for (const name of ['json', 'text'] as const) {
      const read = Response.prototype[name]
      Response.prototype[name] = function (this: Response) {
        return track(read.call(this) as Promise<never>)
      }
    }
    const wait = () => {
      const { builtins } = Reflect.get(globalThis, '__pwClock') as Clock
      return new Promise((resolve) => builtins.setTimeout(resolve, 0))
    }
    const idle = async (): Promise<void> => {
      for (let quiet = 0; quiet < 2; quiet = busy === 0 ? quiet + 1 : 0) await wait()
    }
    addEventListener('DOMContentLoaded', () =>
      setInterval(() => {
        for (const one of seconds[second++ % seconds.length]!) send(one)
      }, 1_000),
    )
    Object.assign(globalThis, { played: { messages: () => messages, idle } satisfies Played })
  }, tape)

/** Step of the simulated time: the console's shortest polling interval. */
const STEP_MS = 10_000

/**
 * Advances time in a page whose clock is paused: every timer fires at its time, and requests are answered in
 * between. It uses the clock's controller, because each call of `page.clock.runFor` leaves a script in the
 * browser.
 * @returns total messages of the stream that the page has received
 */
export const pass = (page: Page, ms: number): Promise<number> =>
  page.evaluate(
    async ({ steps, stepMs }) => {
      const clock = Reflect.get(globalThis, '__pwClock') as Clock
      const played = Reflect.get(globalThis, 'played') as Played
      for (let i = 0; i < steps; i++) {
        await clock.controller.runFor(stepMs)
        await played.idle()
      }
      return played.messages()
    },
    { steps: Math.round(ms / STEP_MS), stepMs: STEP_MS },
  )

/**
 * What the service has received in the last hour, by steps of ten seconds. It reads the kv's counters whether or not
 * an operator watches, so whoever opens the console in an alarm sees what was before. It holds at most 360 steps.
 */
import type { ServiceContext } from '#shared/runtime/context.ts'
import { STEP_SECONDS, type Received } from '#shared/contracts/last-hour.ts'
import { time } from '#shared/contracts/fields.ts'
import { isKvUnavailable } from '#shared/kv/kv.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { countsOf, type CountersReading } from '../stream/counts.ts'

const STEP_MS = STEP_SECONDS * 1_000
const STEPS = 3_600 / STEP_SECONDS

type Step = readonly [points: number, checkins: number]

/** The steps of the last hour. A step that could not be read shares what was counted after it evenly. */
export class ReceivedSteps {
  #before: CountersReading | null = null
  /** End of the last step, epoch milliseconds. */
  #endMs = 0
  #steps: Step[] = []

  /** @param nowMs when the counters were read, epoch milliseconds; readings come in order */
  add(reading: CountersReading, nowMs: number): void {
    const endMs = Math.round(nowMs / STEP_MS) * STEP_MS
    const steps = (endMs - this.#endMs) / STEP_MS
    // The first reading, or the clock was set back: nothing is known of the time before.
    if (this.#before === null || steps < 0) this.#steps = []
    else if (steps === 0) return
    else {
      const { points, checkins } = countsOf(this.#before, reading, nowMs)
      const share = (count: number, i: number) =>
        Math.floor((count * (i + 1)) / steps) - Math.floor((count * i) / steps)
      for (let i = Math.max(0, steps - STEPS); i < steps; i++)
        this.#steps.push([share(points, i), share(checkins, i)])
      this.#steps.splice(0, Math.max(0, this.#steps.length - STEPS))
    }
    this.#before = reading
    this.#endMs = endMs
  }

  /** Null before the first reading. */
  read(): Received | null {
    if (this.#before === null) return null
    const sum = (which: 0 | 1) => this.#steps.reduce((total, step) => total + step[which], 0)
    return {
      since: time(this.#endMs - this.#steps.length * STEP_MS),
      through: time(this.#endMs),
      points: sum(0),
      checkins: sum(1),
      steps: this.#steps.map(([points, checkins]) => [points, checkins]),
    }
  }
}

/** Counts what is received, from `start` on. */
export function createReceivedCount({ kv, log, now }: ServiceContext) {
  const steps = new ReceivedSteps()
  let timer: Timer | undefined
  let stopped = false
  const look = async (): Promise<void> => {
    const nowMs = now()
    try {
      steps.add({ counters: await kv.counters(), atMs: performance.now() }, nowMs)
    } catch (error) {
      if (!isKvUnavailable(error)) log.error('counting what was received failed', errorFields(error))
    }
    if (!stopped) timer = setTimeout(() => void look(), STEP_MS - (now() % STEP_MS))
  }
  return {
    read: () => steps.read(),
    start: () => void look(),
    stop(): void {
      stopped = true
      clearTimeout(timer)
    },
  }
}

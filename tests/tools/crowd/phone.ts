/** One pilgrim's phone: the client's offline queue for points and check-ins, and a queue of other calls. */
import { setTimeout as sleep } from 'node:timers/promises'
import { backoffMs, isTemporary } from '#shared/client/request-backoff.ts'
import {
  type Answer,
  type Client,
  createMemoryStore,
  createTrackQueue,
  type RecordedPoint,
  type Sent,
  type TrackQueue,
} from '#shared/client/index.ts'
import type { Fix } from './acts.ts'
import type { Random } from '#tests/helpers/random.ts'
import type { Person } from './person.ts'
import type { Turns } from './turns.ts'
import { add, type Tally } from './tally.ts'

export interface PhoneOptions {
  readonly person: Person
  /** A client without an identity, shared by all phones to save memory. */
  readonly shared: Client
  /** Creates a pilgrim's client. */
  readonly clientOf: (userId: string) => Client
  readonly departureMs: number
  readonly tally: Tally
  /** Limits how many phones send points at a time, and make other calls, which are slower. */
  readonly turns: Turns
  readonly callTurns: Turns
  readonly now: () => number
  /** Adds jitter to retries. */
  readonly random: Random
  /** Aborts all attempts. */
  readonly signal: AbortSignal
}

/** Minimum interval at which a phone checks whether the service still knows its pilgrim. */
const KNOWN_FOR_MS = 300_000

export type Call = (client: Client) => Promise<Answer<unknown>>

export class Phone {
  readonly #options: PhoneOptions
  readonly #queue: TrackQueue
  /** Points measured since the last sync. */
  #track: RecordedPoint[] = []
  #checkIns: { readonly point: RecordedPoint; readonly times: number }[] = []
  #calls: Call[] = []
  #sending: Promise<void> | null = null
  #calling: Promise<void> | null = null
  /**
   * Last time that the service knew the pilgrim, epoch milliseconds; Infinity until it has accepted a point.
   */
  #knownMs = Infinity
  #hadName = false
  #isErased = false

  constructor(options: PhoneOptions) {
    const { person, shared, tally } = options
    const { userId } = person
    const { checkIn, syncTrack } = shared
    this.#options = options
    this.#queue = createTrackQueue({
      client: { checkIn, syncTrack, identity: async () => ({ userId }) },
      store: createMemoryStore(),
      onSent: (sent) => {
        count(tally, sent)
        if (this.#knownMs === Infinity) this.#knownMs = options.now()
        if (sent.rejected.length > 0) void this.#queue.dismiss(sent.rejected)
      },
    })
  }

  /** Whether the phone has a network. */
  isOnline = true

  /** Number of points queued on the phone. */
  get held(): number {
    return this.#track.length + this.#checkIns.length
  }

  record(fix: Fix): void {
    if (this.#isErased) return
    this.#options.tally.recorded++
    this.#track.push(this.#pointOf(fix))
  }

  checkIn(fix: Fix, times: number): void {
    if (this.#isErased) return
    this.#options.tally.recorded++
    this.#checkIns.push({ point: this.#pointOf(fix), times })
  }

  /**
   * Makes a call, repeated until the service accepts it or rejects it for good. It starts at once, or when
   * the phone sends next.
   */
  call(call: Call): void {
    if (this.#isErased) return
    this.#calls.push(call)
    this.#options.tally.callsWaiting++
    if (this.isOnline) void this.#makeCallsOnce()
  }

  /** Sends the queue, including what is recorded meanwhile. */
  async send(): Promise<void> {
    await this.#noteErasure()
    this.#sending ??= this.#sendPoints().finally(() => (this.#sending = null))
    await Promise.all([this.#sending, this.#makeCallsOnce()])
  }

  #makeCallsOnce(): Promise<void> {
    return (this.#calling ??= this.#makeCalls().finally(() => (this.#calling = null)))
  }

  /**
   * Sending after an erasure would register the pilgrim again, without a name. So the phone stops sending
   * once it notices. The pilgrims' app does the same.
   */
  async #noteErasure(): Promise<void> {
    const { shared, person, tally, now, callTurns, signal } = this.#options
    if (this.#isErased || now() - this.#knownMs < KNOWN_FOR_MS) return
    if (this.held === 0 && this.#calls.length === 0) return
    this.#knownMs = now()
    const answer = await callTurns.take(async () =>
      signal.aborted ? null : shared.readProfile({ userId: person.userId }, { signal }),
    )
    if (answer === null) return
    const name = answer.ok ? answer.data.display_name : null
    const isKnown = answer.ok ? name !== null || !this.#hadName : answer.error.code !== 'not-found'
    this.#hadName ||= name !== null
    if (isKnown) return
    this.#isErased = true
    add(tally.rejected, 'erased', this.held)
    tally.callsWaiting -= this.#calls.length
    ;[this.#track, this.#checkIns, this.#calls] = [[], [], []]
  }

  /** A position in the form of the pilgrims' app for a report. */
  placeOf({ lat, lng, clockS, accuracy }: Fix) {
    const at = new Date(this.#options.departureMs + clockS * 1_000).toISOString()
    return { lat, lng, accuracy, at }
  }

  #pointOf({ lat, lng, clockS, accuracy, mode }: Fix): RecordedPoint {
    const timestamp = this.#options.departureMs + clockS * 1_000
    return { lat, lng, timestamp, accuracy, source: 'demo', ...(mode === undefined ? {} : { mode }) }
  }

  async #sendPoints(): Promise<void> {
    const { signal, turns } = this.#options
    while (!signal.aborted && this.held > 0) {
      const [track, checkIns] = [this.#track, this.#checkIns]
      ;[this.#track, this.#checkIns] = [[], []]
      for (const { point } of checkIns) await this.#queue.checkIn(point)
      if (track.length > 0) await this.#queue.record(track)
      await this.#empty()
      for (const { point, times } of checkIns) if (times > 1) await this.#persist(this.#again(point), turns)
    }
  }

  /** In order: a later report replaces an earlier one. */
  async #makeCalls(): Promise<void> {
    const { signal, callTurns, clientOf, person, tally } = this.#options
    if (this.#calls.length === 0) return
    const client = clientOf(person.userId)
    while (!signal.aborted && this.#calls.length > 0)
      for (const call of this.#calls.splice(0)) {
        await this.#persist(() => call(client), callTurns)
        tally.callsWaiting--
      }
  }

  /** A repeated check-in, which the service reports as a duplicate. */
  #again(point: RecordedPoint): () => Promise<Answer<unknown>> {
    const { tally, shared, person } = this.#options
    return async () => {
      const answer = await shared.checkIn({
        ...point,
        user_id: person.userId,
        timestamp: Number(point.timestamp),
      })
      if (answer.ok && answer.data.duplicate) tally.duplicates++
      return answer
    }
  }

  /** Sends until the queue is empty, waiting as long as it requires. */
  async #empty(): Promise<void> {
    const { signal, tally, turns } = this.#options
    while (!signal.aborted) {
      const sent = await turns.take(async () => (signal.aborted ? null : this.#queue.send()))
      if (sent === null) return
      const { waiting, why, nextAttemptAt, stopped } = sent
      if (waiting.checkIns + waiting.points === 0) return
      add(stopped ? tally.refused : tally.retried, why ?? 'unknown')
      if (why === 'erased') {
        this.#isErased = true
        add(tally.rejected, 'erased', waiting.checkIns + waiting.points)
      }
      // The service rejects for good (the event has ended): the phone keeps its points.
      if (stopped) return
      await pause((nextAttemptAt ?? Date.now() + 1_000) - Date.now(), signal)
    }
  }

  async #persist(call: () => Promise<Answer<unknown>>, turns: Turns): Promise<void> {
    const { signal, tally, random } = this.#options
    for (let failures = 0; !signal.aborted; failures++) {
      const answer = await turns.take(async () => (signal.aborted ? null : call()))
      if (answer === null || answer.ok) return
      // A paused event is resumed eventually.
      if (!isTemporary(answer.error) && answer.error.code !== 'paused') {
        add(tally.refused, answer.error.code)
        return
      }
      add(tally.retried, answer.error.code)
      await pause(backoffMs(failures, answer.error.retryAfter, random()), signal)
    }
  }
}

/** Waits; ends early without an error when the demo ends. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(Math.max(0, ms), undefined, { signal })
  } catch {
    // Aborted: the caller checks the signal.
  }
}

function count(tally: Tally, { kind, durable, rejected, answer }: Sent): void {
  if (kind === 'checkin') tally.checkIns += durable.length
  tally.points += durable.length
  for (const { reason } of rejected) add(tally.rejected, reason)
  if (answer !== null && 'duplicates' in answer) tally.duplicates += answer.duplicates
}

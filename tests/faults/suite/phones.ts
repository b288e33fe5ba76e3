/**
 * Simulated phones: they record while offline, send late, repeat, shuffle, obey Retry-After, and have wrong clocks.
 */
import { createRandom, type Random } from '#tests/helpers/random.ts'
import { type Answer, type Client, createClient, type Input } from '#shared/client/index.ts'
import { type Fetch, RecordedRequests, recordingFetch } from './recorded-requests.ts'

/** The window of a rate limit, plus a margin for a late charge. */
const WINDOW_MS = 75_000
const SYNCS = 10
const CHECK_INS = 5
const BATCH = 200
const FIRST_BACKOFF_MS = 300
const LONGEST_BACKOFF_MS = 5_000
/** How often a phone checks whether the walk is over. */
const LOOK_MS = 50
const HOUR_MS = 3_600_000
/** Longer than one recording: the walk runs faster than real time, and no phone records the future. */
const LEAD_MS = HOUR_MS / 2
/** Clock errors: mostly none, else minutes behind, hours behind, or ahead. */
const SKEWS_MS = [0, 0, 0, 0, 0, -7 * 60_000, -5 * HOUR_MS, 2 * 60_000]

interface Recorded {
  readonly lat: number
  readonly lng: number
  readonly timestamp: number
  readonly mode?: string
}

export interface Phones {
  /** Stops recording; resolves when all recorded points are acknowledged. */
  finish(patienceMs: number): Promise<void>
}

export interface PhonesOptions {
  readonly fetch: Fetch
  readonly recorded: RecordedRequests
  readonly seed: number
  readonly count: number
  /** Duration of the walk; the requests that rate limits allow are spread over it. */
  readonly forMs: number
}

export function startPhones({ fetch, recorded, seed, count, forMs }: PhonesOptions): Phones {
  const phones = Array.from(
    { length: count },
    (_, n) => new Phone(fetch, recorded, `${recorded.name}.${n}`, createRandom(seed + n * 7_919), n),
  )
  let walking = true
  const walks = phones.map((phone) => phone.walk(() => walking, forMs))
  return {
    async finish(patienceMs) {
      walking = false
      await Promise.all(walks)
      const endsAt = performance.now() + patienceMs
      await Promise.all(phones.map((phone) => phone.deliverAll(endsAt)))
    },
  }
}

/** The times of past requests, so that the phone stays within a rate limit. */
class Allowance {
  readonly #tried: number[] = []
  constructor(readonly max: number) {}
  /** Milliseconds until the next request is allowed. */
  get waitMs(): number {
    const oldest = this.#tried.at(-this.max)
    return oldest === undefined ? 0 : Math.max(0, oldest + WINDOW_MS - performance.now())
  }
  take(): void {
    this.#tried.push(performance.now())
  }
  /** The last one was not charged. */
  giveBack(): void {
    this.#tried.pop()
  }
}

class Phone {
  #queue: Recorded[] = []
  #sent: Recorded[] = []
  #checkIns: { readonly body: Input<'checkIn'>; readonly done: () => void }[] = []
  readonly #skewMs: number
  #clockMs: number
  #lat: number
  #lng: number
  #failures = 0
  #notBeforeMs = 0
  readonly #syncs = new Allowance(SYNCS)
  readonly #visits = new Allowance(CHECK_INS)

  readonly #client: Client

  constructor(
    fetch: Fetch,
    readonly recorded: RecordedRequests,
    readonly userId: string,
    readonly random: Random,
    readonly n: number,
  ) {
    this.#client = createClient({ baseUrl: '', fetch: recordingFetch(fetch, recorded), identity: { userId } })
    this.#skewMs = SKEWS_MS[n % SKEWS_MS.length]!
    this.#clockMs = Date.now() - 3 * HOUR_MS + this.#skewMs + Math.floor(random() * 60_000)
    this.#lat = 23.5 + random()
    this.#lng = 120.4 + random() / 2
  }

  async walk(isWalking: () => boolean, forMs: number): Promise<void> {
    // Half of the ten syncs a minute are for the walk, half for retries.
    const paceMs = forMs / 4
    let checkIns = 0
    await Bun.sleep(this.random() * Math.min(paceMs, 2_000))
    while (isWalking()) {
      const isBehind = this.#clockMs < Date.now() + this.#skewMs - LEAD_MS
      if (isBehind) this.#record(4 + Math.floor(this.random() * 12))
      if (isBehind && checkIns < 2 && this.random() < 0.4) {
        this.#arrive()
        checkIns++
      }
      const isOffline = this.random() < 0.25
      if (!isOffline && performance.now() >= this.#notBeforeMs) await this.#deliver()
      if (this.n % 9 === 0) await this.#tellOfThemselves()
      const untilMs = performance.now() + paceMs * (0.5 + this.random())
      while (isWalking() && performance.now() < untilMs) await Bun.sleep(LOOK_MS)
    }
  }

  async deliverAll(endsAt: number): Promise<void> {
    while (this.#queue.length + this.#checkIns.length > 0 && performance.now() < endsAt) {
      const waitMs = Math.max(
        this.#notBeforeMs - performance.now(),
        this.#queue.length > 0 ? this.#syncs.waitMs : 0,
        this.#checkIns.length > 0 ? this.#visits.waitMs : 0,
      )
      await Bun.sleep(Math.max(0, waitMs) + this.random() * 50)
      await this.#deliver()
    }
    if (this.#queue.length + this.#checkIns.length > 0)
      this.recorded.complain('a phone could not deliver its points', this.userId)
  }

  /** Some minutes of walking, about a point a minute. */
  #record(count: number): void {
    for (let i = 0; i < count; i++) {
      this.#step()
      const mode = this.random() < 0.05 ? { mode: 'bike' } : {}
      this.#queue.push({ lat: this.#lat, lng: this.#lng, timestamp: this.#clockMs, ...mode })
    }
  }

  #step(): void {
    this.#clockMs += 40_000 + Math.floor(this.random() * 40_000)
    this.#lat += (this.random() - 0.3) / 1_000
    this.#lng += (this.random() - 0.5) / 1_000
  }

  /**
   * A check-in: usually with a time, sometimes with the latest track points, sometimes ahead of all clocks.
   */
  #arrive(): void {
    this.#step()
    const place = { lat: this.#lat, lng: this.#lng }
    const chance = this.random()
    if (chance < 0.15) {
      const visit = { userId: this.userId, lat: this.#lat, lng: this.#lng, answered: false }
      this.recorded.timeless.push(visit)
      this.#checkIns.push({ body: place, done: () => (visit.answered = true) })
      return
    }
    const timestamp = chance < 0.25 ? Date.now() + 10 * HOUR_MS + this.n : this.#clockMs
    const track_points = chance > 0.7 ? this.#queue.slice(-3) : []
    const fields = [`c${timestamp}`, ...track_points.map((point) => `t${point.timestamp}`)]
    this.#checkIns.push({
      body: { ...place, timestamp, ...(track_points.length > 0 ? { track_points } : {}) },
      done: () => this.recorded.promise(this.userId, fields),
    })
  }

  async #deliver(): Promise<void> {
    const [checkIn] = this.#checkIns
    if (checkIn !== undefined && this.#visits.waitMs === 0) {
      this.#visits.take()
      const answer = await this.#ask(() => this.#client.checkIn(checkIn.body))
      if (!answer.ok && answer.error.status === 403) this.#visits.giveBack()
      if (answer.ok) {
        checkIn.done()
        this.#checkIns.shift()
      }
    }
    if (this.#queue.length > 0 && this.#syncs.waitMs === 0 && performance.now() >= this.#notBeforeMs)
      await this.#sync()
  }

  async #sync(): Promise<void> {
    const fresh = this.#queue.slice(0, BATCH)
    const repeated = this.random() < 0.2 ? this.#sent.slice(-5) : []
    const batch = [...repeated, ...fresh]
    if (this.random() < 0.3) batch.sort(() => this.random() - 0.5)
    this.#syncs.take()
    const answer = await this.#ask(() => this.#client.syncTrack({ points: batch }))
    if (!answer.ok && answer.error.status === 403) this.#syncs.giveBack()
    if (!answer.ok) return
    const left = new Set(answer.data.rejected.map(({ index }) => batch[index]))
    // A slow clock accepts them later.
    const ahead = answer.data.rejected
      .filter(({ reason }) => reason === 'in-the-future')
      .map(({ index }) => batch[index])
    if (ahead.length > 0) this.#notBeforeMs = performance.now() + LONGEST_BACKOFF_MS
    const taken = batch.filter((point) => !left.has(point))
    this.recorded.promise(
      this.userId,
      taken.map(({ timestamp }) => `t${timestamp}`),
    )
    this.#queue = this.#queue.filter((point) => !batch.includes(point) || ahead.includes(point))
    this.#sent = fresh
  }

  /** After a failure: waits for Retry-After, or for an exponential back-off. */
  async #ask<T>(call: () => Promise<Answer<T>>): Promise<Answer<T>> {
    const answer = await call()
    if (answer.ok) this.#failures = 0
    else {
      const backoff = Math.min(FIRST_BACKOFF_MS * 2 ** this.#failures++, LONGEST_BACKOFF_MS)
      const waitMs = Math.max((answer.error.retryAfter ?? 0) * 1_000, backoff * (0.5 + this.random()))
      this.#notBeforeMs = performance.now() + waitMs
    }
    return answer
  }

  /** Sends a survey and a phone number, with retries within the rate limits. */
  async #tellOfThemselves(): Promise<void> {
    const { recorded, userId } = this
    if (!recorded.surveys.has(userId) && this.#surveys++ < 2) {
      const survey = { q1: 'yes', q2: this.n, q3: ['bus', 'train'] }
      const { ok } = await this.#client.submitSurvey({ survey })
      if (ok) recorded.surveys.set(userId, survey)
    }
    const phone = `+8869${String(10_000_000 + this.n)}`
    if (recorded.phoneNumbers.has(userId)) return
    const { ok } = await this.#client.setPhone({ phone })
    if (ok) recorded.phoneNumbers.set(userId, phone)
  }
  #surveys = 0
}

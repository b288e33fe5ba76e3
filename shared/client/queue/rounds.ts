/** Rounds of sending, until nothing is left or the rest has to wait. */
import type { ClientError } from '../answer.ts'
import type { CallOptions, Client } from '../create-client.ts'
import {
  judgeFailure,
  type Due,
  isProbing,
  laneOf,
  lanesOf,
  type Moment,
  nextDue,
  afterFailure,
  afterReconnection,
  afterSuccess,
  afterTooEarly,
} from './retry-delays.ts'
import { readOwner } from './queued-point.ts'
import { type Sent, sendCheckIn, sendTrack } from './send-batch.ts'
import { type Fault, type QueueState, shownReason } from './queue-state.ts'
import {
  type AddedKind,
  type AddedKinds,
  type Entry,
  type Kind,
  KINDS,
  type QueuedPoint,
  type QueueStore,
  type RejectedPoint,
  type Waits,
} from './store.ts'
import type { Clock, Network } from './clock-and-network.ts'

/** Size and timing of requests. */
export interface Limits {
  readonly points: number
  /** Maximum bytes of a body. */
  readonly bytes: number
  /** Track points are collected for this long before the next request; a full request goes at once. */
  readonly collectMs: number | (() => number)
  /** Timeout of an answer. After a timeout the next request is half as large. */
  readonly timeoutMs: number
}

const LIMITS: Limits = { points: 500, bytes: 102_400, collectMs: 10_000, timeoutMs: 60_000 }
/** After this time an attempt is made although the browser reports offline: it may be wrong. */
const OFFLINE_MS = 60_000
/**
 * This many consecutive refusals are enough to find one wrong point of a track. After more, all points are wrong, and
 * every refusal waits.
 */
const MOST_REFUSALS = 20
/** Wait after a failure of the store, or of `identity`. */
const AGAIN_MS = 10_000

/** Maximum number of waiting entries of an added kind read for the next request. */
const MOST_AT_ONCE = 100

/** Epoch milliseconds of the next attempt; null: not before an event. */
type Pending = number | null

export interface Parts {
  /** Its `identity` is the owner of recorded and sent points. */
  readonly client: Pick<Client, 'checkIn' | 'syncTrack' | 'identity'>
  readonly store: QueueStore
  readonly clock: Clock
  readonly network: Network
  readonly limits: { readonly [K in keyof Limits]?: Limits[K] | undefined }
  /** Called with the result of each request, and with each point that is rejected on its own. */
  readonly onSent?: ((sent: Sent) => void) | undefined
  /** Kinds that the app sends besides check-ins and points. */
  readonly added?: AddedKinds | undefined
  /**
   * Why entries of this kind must not be sent now, such as during a pause; null: they may. Call the queue's `awaken`
   * when the result changes.
   */
  readonly holds?: ((kind: string) => ClientError | null) | undefined
  readonly show: (change: Partial<QueueState>) => void
}

interface Choices {
  readonly signal: AbortSignal
  /** Whether track points are collected for a larger request. */
  readonly collecting: boolean
}

/** Result of reading the store: `due` is set when something may be sent at `at`. */
interface Found {
  readonly at: Pending
  readonly due: (Due & { readonly userId: string }) | null
}

export class Rounds {
  readonly #parts: Parts
  readonly #limits: Limits
  /** Maximum points in the next request, and in any request after a 413. */
  #size: number
  #ceiling: number
  /** Maximum points of the future in the next request: a single one tests whether their time has come. */
  #laterSize = 1
  /** Consecutive requests of which the service accepted nothing. */
  #refusals = 0
  /** Service errors since a check-in was sent: after each the next check-in is tried. */
  #turn = 0
  /** As `#turn`, by added kind. */
  readonly #turns = new Map<string, number>()
  /** Final refusals by the service, by lane. */
  readonly #stopped = new Map<string, ClientError>()
  #fault: Fault | null = null
  #lastTurn = 0
  #shownTurn = 0
  #lastTrackAt = -Infinity
  #lastTriedAt: number
  /** The current round in this tab. */
  #busy: Promise<unknown> = Promise.resolve()

  constructor(parts: Parts) {
    this.#parts = parts
    const given = Object.entries(parts.limits).filter(([, value]) => value !== undefined)
    this.#limits = { ...LIMITS, ...Object.fromEntries(given) }
    this.#size = this.#ceiling = this.#limits.points
    this.#lastTriedAt = parts.clock.now()
  }

  /** Sends until nothing is left or the rest has to wait. Never rejects. */
  run(choices: Choices): Promise<Pending> {
    const { store, network, show } = this.#parts
    const round = async (): Promise<Pending> => {
      this.#fault = null
      try {
        const { locks } = network
        if (locks === undefined) return await this.#sendAll(choices)
        // Another tab may steal the lock if this one does not respond. Then this one stops sending.
        const holding = new AbortController()
        const end = () => holding.abort()
        choices.signal.addEventListener('abort', end)
        const send = () => this.#sendAll({ ...choices, signal: holding.signal })
        return await locks
          .request(`track queue ${store.name}`, { signal: choices.signal }, send)
          .finally(() => {
            end()
            choices.signal.removeEventListener('abort', end)
          })
      } catch (error) {
        if (choices.signal.aborted) return null
        // Another tab has the lock and sends. This one checks again later.
        if ((error as Error).name === 'AbortError') return this.#parts.clock.now() + AGAIN_MS
        this.#fault = this.#storeFailed(error)
        return this.#fault.nextAttemptAt
      } finally {
        show({ sending: false })
      }
    }
    const result = this.#busy.then(round)
    this.#busy = result
    return result
  }

  async #sendAll(choices: Choices): Promise<Pending> {
    const { clock, store, client, show } = this.#parts
    while (!choices.signal.aborted) {
      const { at, due } = await this.#refresh(choices.collecting)
      if (due === null || due.at > clock.now()) return at
      show({ sending: true })
      const { timeoutMs, bytes } = this.#limits
      const options = { signal: choices.signal, timeoutMs }
      const added = this.#parts.added?.[due.kind]
      if (added !== undefined) {
        const keyOf = ({ fields, t }: Entry) => added.mergesBy?.(fields) ?? String(t)
        const oldest = await store.oldest(due.userId, due.kind, MOST_AT_ONCE)
        const keys = [...new Set(oldest.map(keyOf))]
        const key = keys[(this.#turns.get(due.kind) ?? 0) % keys.length]
        const entries = oldest.filter((entry) => keyOf(entry) === key)
        this.#lastTriedAt = clock.now()
        if (entries.length > 0) await this.#sendAdded(due.userId, added, entries, options)
        continue
      }
      const kind = due.kind as Kind
      const size = isProbing(await store.waits(due.userId), kind) ? 1 : this.#size
      const most = { checkin: this.#turn + 1, track: size, later: Math.min(size, this.#laterSize) }
      const points = (await store.oldest(due.userId, kind, most[kind])) as QueuedPoint[]
      const first = points[this.#turn % points.length]
      // Another tab has sent them.
      if (first === undefined) continue
      this.#lastTriedAt = clock.now()
      if (kind === 'track') this.#lastTrackAt = clock.now()
      const result =
        kind === 'checkin'
          ? await sendCheckIn(client, first, options)
          : await sendTrack(client, points, bytes, clock.now(), options)
      if ('error' in result) await this.#failed(due.userId, kind, result.error, result.points, choices.signal)
      else await this.#succeeded(due.userId, result)
    }
    return null
  }

  async #sendAdded(
    userId: string,
    added: AddedKind,
    entries: readonly Entry[],
    options: CallOptions & { readonly signal: AbortSignal },
  ): Promise<void> {
    const { store, clock, show } = this.#parts
    const last = entries.at(-1)!
    const { kind } = last
    const fields = Object.assign({}, ...entries.map((entry) => entry.fields)) as object
    const answer = await added.send({ ...last, fields }, options)
    if (!answer.ok && options.signal.aborted) return
    const waits = await store.waits(userId)
    if (!answer.ok && judgeFailure(answer.error, added) !== 'refuse') {
      show({ sending: false })
      const lane = laneOf(kind, answer.error, added.urgent)
      // The service may fail only at this entry, so the next one is tried.
      if (answer.error.status === 500 && added.ordered !== true)
        this.#turns.set(kind, (this.#turns.get(kind) ?? 0) + 1)
      if (judgeFailure(answer.error, added) === 'stop') this.#stopped.set(lane, answer.error)
      else await store.setWaits(userId, afterFailure(waits, lane, answer.error, clock))
      return
    }
    if (answer.ok) await store.settle(entries, [])
    else {
      const { code: reason, message } = answer.error
      await store.settle(entries.slice(0, -1), [{ ...last, fields, reason, message }])
    }
    this.#turns.delete(kind)
    await store.setWaits(userId, afterSuccess(waits, kind))
    if (answer.ok) show({ lastSentAt: clock.now() })
    const result = answer.ok ? { data: answer.data } : { error: answer.error }
    queueMicrotask(() => added.onSettled?.(entries, result))
  }

  async #succeeded(userId: string, sent: Sent): Promise<void> {
    const { store, clock, onSent, show } = this.#parts
    const { kind, durable, rejected, later } = sent
    const moved = kind === 'later' ? [] : later
    if (moved.length > 0) await store.add(moved.map((point) => ({ ...point, kind: 'later' })))
    await store.settle([...durable, ...moved], rejected)
    if (kind === 'checkin') this.#turn = 0
    else this.#size = Math.min(this.#ceiling, this.#size * 2)
    if (kind === 'later') this.#laterSize = later.length > 0 ? 1 : this.#laterSize * 2
    const waits = await store.waits(userId)
    const left = afterTooEarly(afterSuccess(waits, kind), later, clock.now())
    if (Object.keys({ ...waits, ...left }).length > 0) await store.setWaits(userId, left)
    if (durable.length > 0) {
      this.#refusals = 0
      show({ lastSentAt: clock.now() })
    }
    if (onSent !== undefined) queueMicrotask(() => onSent(sent))
  }

  async #failed(
    userId: string,
    kind: Kind,
    error: ClientError,
    points: readonly QueuedPoint[],
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted) return
    const { store, clock, show } = this.#parts
    // Before the reason is shown, because an app then offers to try again at once.
    show({ sending: false })
    const judgement = judgeFailure(error)
    if (judgement === 'stop') {
      this.#stopped.set(laneOf(kind, error), error)
      return
    }
    const waits = await store.waits(userId)
    const half = Math.ceil(points.length / 2)
    if (judgement === 'refuse') {
      const { status, code, message } = error
      const reason = status === 413 ? 'too-large' : code
      if (points.length > 1) {
        this.#size = half
        if (status === 413) this.#ceiling = half
      } else {
        const rejected = points.map((point): RejectedPoint => ({ ...point, reason, message }))
        await this.#succeeded(userId, { kind, durable: [], rejected, later: [], answer: null })
      }
      if (kind === 'checkin' || ++this.#refusals <= MOST_REFUSALS) return
    } else if (error.code === 'timeout' && kind !== 'checkin') this.#size = half
    if (error.status === 500) this.#turn++
    await store.setWaits(userId, afterFailure(waits, laneOf(kind, error), error, clock))
  }

  /** Reads and shows the state. Never rejects: a failing store is shown. */
  async look(): Promise<void> {
    await this.#refresh(true).catch((error: unknown) => void this.#storeFailed(error))
  }

  #storeFailed(error: unknown): Fault {
    const { clock, show } = this.#parts
    const fault = { message: (error as Error).message, nextAttemptAt: clock.now() + AGAIN_MS }
    show({ why: 'storage', ...fault })
    return fault
  }

  /** Reads and shows the state. @throws the store's error */
  async #refresh(collecting: boolean): Promise<Found> {
    const { client, store, clock, network, show, added = {} } = this.#parts
    const turn = ++this.#lastTurn
    const who = await readOwner(client)
    if (!who.ok) {
      const { code, message, cause } = who.error
      const at = cause === undefined ? null : clock.now() + AGAIN_MS
      show({ why: code, message, nextAttemptAt: at })
      return { at, due: null }
    }
    const { userId } = who
    const names = Object.keys(added)
    const isLast = (kind: string) => added[kind]!.last === true
    const kinds = [...names.filter((kind) => !isLast(kind)), ...KINDS, ...names.filter(isLast)]
    const { rejected, ...counts } = await store.counts(userId, kinds)
    const heldKinds = kinds.filter((kind) => counts[kind]! > 0 && this.#whyHeld(kind) !== null)
    const stopped = heldKinds[0] === undefined ? null : this.#whyHeld(heldKinds[0])
    const free = Object.fromEntries(Object.entries(counts).filter(([kind]) => !heldKinds.includes(kind)))
    const due = nextDue(free, await store.waits(userId), this.#moment(collecting), added)
    // A later read has already shown a newer state.
    if (turn > this.#shownTurn) {
      this.#shownTurn = turn
      show({
        loaded: true,
        waiting: { checkIns: counts['checkin']!, points: counts['track']! + counts['later']! },
        added: Object.fromEntries(Object.keys(added).map((kind) => [kind, counts[kind]!])),
        rejected,
        ...shownReason({ due, stopped, fault: this.#fault, isOnline: network.online(), now: clock.now() }),
        stopped: stopped !== null,
      })
    }
    return due === null ? { at: null, due: null } : { at: due.at, due: { ...due, userId } }
  }

  #whyHeld(kind: string): ClientError | null {
    const { holds, added } = this.#parts
    const lanes = lanesOf(kind, added?.[kind]?.urgent)
    return holds?.(kind) ?? lanes.map((lane) => this.#stopped.get(lane)).find((error) => error) ?? null
  }

  #moment(collecting: boolean): Moment {
    const { clock, network } = this.#parts
    const { collectMs } = this.#limits
    const now = clock.now()
    // If a clock was set back, past times may lie in the future.
    const [lastTrackAt, lastTriedAt] = [Math.min(now, this.#lastTrackAt), Math.min(now, this.#lastTriedAt)]
    return {
      now,
      full: this.#size,
      collectedAt: collecting ? lastTrackAt + (typeof collectMs === 'function' ? collectMs() : collectMs) : 0,
      notBefore: collecting && !network.online() ? lastTriedAt + OFFLINE_MS : 0,
    }
  }

  /** The network may be back: entries that waited only for it are due. */
  async reconnect(): Promise<void> {
    this.#lastTriedAt = this.#lastTrackAt = -Infinity
    await this.#changeWaits(afterReconnection)
  }

  async forgive(): Promise<void> {
    this.#stopped.clear()
    this.#refusals = 0
    await this.#changeWaits(() => ({}))
    await this.look()
  }

  async #changeWaits(change: (waits: Waits) => Waits): Promise<void> {
    const { client, store } = this.#parts
    const who = await readOwner(client)
    if (!who.ok) return
    const waits = await store.waits(who.userId)
    if (Object.keys(waits).length > 0) await store.setWaits(who.userId, change(waits))
  }
}

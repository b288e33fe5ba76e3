/** Rounds of sending: one request after the other, until nothing is left or the rest has to wait. */
import type { ClientError } from '../answer.ts'
import type { Client } from '../create-client.ts'
import { judgeFailure } from './judge-failure.ts'
import { type Sent, sendCheckIn, sendTrack, type Unsent } from './send-batch.ts'
import type { QueueState } from './queue-state.ts'
import type { Counts, Kind, QueueStore, RejectedPoint, Wait, Waits } from './store.ts'
import type { Clock, Network } from './surroundings.ts'
import { afterFailure, afterReconnection, afterSuccess, longestWait, msLeft } from './waits.ts'

/** What one request holds, and when it is sent. */
export interface Limits {
  /** Most points in a request. */
  readonly points: number
  /** Most bytes of a body. */
  readonly bytes: number
  /** Track points are collected for this long before the next request; a full request goes at once. */
  readonly collectMs: number
  /** Time to an answer. After a time-out the next request is half as large. */
  readonly timeoutMs: number
}

const LIMITS: Limits = { points: 500, bytes: 102_400, collectMs: 10_000, timeoutMs: 60_000 }
/** A browser that says it is offline may be wrong. */
const OFFLINE_MS = 60_000
/** After a failure of the store. */
const STORAGE_MS = 10_000

/** Epoch milliseconds of the next attempt; null: not before something happens. */
export type Pending = number | null

export interface Parts {
  /** Its `identity` says whose points are recorded and sent. */
  readonly client: Pick<Client, 'checkIn' | 'syncTrack' | 'identity'>
  readonly store: QueueStore
  readonly clock: Clock
  readonly network: Network
  readonly limits: Partial<Limits>
  /** Told what a request has settled, and of a point that is refused by itself. */
  readonly onSent?: ((sent: Sent) => void) | undefined
  /** Shows a change of the state. */
  readonly show: (change: Partial<QueueState>) => void
}

interface Choices {
  readonly signal: AbortSignal
  /** Whether track points are collected for a larger request. */
  readonly collecting: boolean
}

/** What one pilgrim's points wait for. */
interface Due {
  readonly kind: Kind
  readonly at: number
  readonly wait: Wait | undefined
}

export class Rounds {
  readonly #parts: Parts
  readonly #limits: Limits
  /** Most points in the next request, and in any after a 413. */
  #size: number
  #ceiling: number
  #stopped: ClientError | null = null
  #lastTrackAt = -Infinity
  #lastTriedAt: number
  /** The round that runs in this tab. */
  #busy: Promise<unknown> = Promise.resolve()

  constructor(parts: Parts) {
    this.#parts = parts
    this.#limits = { ...LIMITS, ...parts.limits }
    this.#size = this.#ceiling = this.#limits.points
    this.#lastTriedAt = parts.clock.now()
  }

  /** Sends until nothing is left or the rest has to wait. Never rejects. */
  run(choices: Choices): Promise<Pending> {
    const { store, network, clock, show } = this.#parts
    const round = async (): Promise<Pending> => {
      try {
        const send = () => this.#sendAll(choices)
        const { locks } = network
        return await (locks === undefined
          ? send()
          : locks.request(`track queue ${store.name}`, { signal: choices.signal }, send))
      } catch (error) {
        if (choices.signal.aborted) return null
        const nextAttemptAt = clock.now() + STORAGE_MS
        show({ why: 'storage', message: (error as Error).message, nextAttemptAt })
        return nextAttemptAt
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
      const due = await this.refresh(choices.collecting)
      if (due === null || due.at > clock.now()) return due?.at ?? null
      show({ sending: true })
      const who = await client.identity()
      if (who === undefined) return null
      const points = await store.oldest(who.userId, due.kind, due.kind === 'checkin' ? 1 : this.#size)
      const [first] = points
      // Another tab has sent them.
      if (first === undefined) continue
      this.#lastTriedAt = clock.now()
      const { timeoutMs, bytes } = this.#limits
      const options = { signal: choices.signal, timeoutMs }
      if (due.kind === 'track') this.#lastTrackAt = clock.now()
      const result =
        due.kind === 'checkin'
          ? await sendCheckIn(client, first, options)
          : await sendTrack(client, points, bytes, options)
      if ('error' in result) await this.#failed(who.userId, due.kind, result, choices.signal)
      else await this.#succeeded(who.userId, result)
    }
    return null
  }

  async #succeeded(userId: string, sent: Sent): Promise<void> {
    const { store, clock, onSent, show } = this.#parts
    await store.settle(sent.durable, sent.rejected)
    if (sent.kind === 'track') this.#size = Math.min(this.#ceiling, this.#size * 2)
    const waits = await store.waits(userId)
    if (Object.keys(waits).length > 0) await store.setWaits(userId, afterSuccess(waits, sent.kind))
    if (sent.durable.length > 0) show({ lastSentAt: clock.now() })
    if (onSent !== undefined) queueMicrotask(() => onSent(sent))
  }

  async #failed(userId: string, kind: Kind, { error, points }: Unsent, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    const { store, clock } = this.#parts
    const half = Math.max(1, Math.floor(points.length / 2))
    const reason = error.status === 413 ? 'too-large' : error.code
    switch (judgeFailure(error, points.length)) {
      case 'smaller':
        this.#size = half
        if (reason === 'too-large') this.#ceiling = half
        return
      case 'reject': {
        const { message } = error
        const rejected = points.map((point): RejectedPoint => ({ ...point, reason, message }))
        return this.#succeeded(userId, { kind, durable: [], rejected, answer: null })
      }
      case 'stop':
        this.#stopped = error
        return
      case 'wait':
        if (error.code === 'timeout' && kind === 'track') this.#size = half
        return store.setWaits(userId, afterFailure(await store.waits(userId), kind, error, clock))
    }
  }

  /** Reads what waits, and shows it. @returns what is sent next, and when; null: nothing before something happens */
  async refresh(collecting = true): Promise<Due | null> {
    const { client, store, clock, show } = this.#parts
    const who = await client.identity()
    if (who === undefined) {
      show({ why: 'unauthorized', message: 'Nobody is signed in.', nextAttemptAt: null })
      return null
    }
    const counts = await store.counts(who.userId)
    const due = this.#nextOf(counts, await store.waits(who.userId), collecting)
    const stopped = this.#stopped
    const isOffline = due !== null && !this.#parts.network.online()
    const isLater = due !== null && due.at > clock.now()
    show({
      waiting: { checkIns: counts.checkin, points: counts.track },
      rejected: counts.rejected,
      why: due === null ? null : (stopped?.code ?? (isOffline ? 'offline' : (due.wait?.code ?? null))),
      message: due === null ? null : (stopped?.message ?? due.wait?.message ?? null),
      nextAttemptAt: isLater && stopped === null ? due.at : null,
      stopped: stopped !== null,
    })
    return stopped === null ? due : null
  }

  /** What is sent next, and when; null when nothing waits. */
  #nextOf(counts: Counts, waits: Waits, collecting: boolean): Due | null {
    const { clock, network } = this.#parts
    const now = clock.now()
    const all = (['checkin', 'track'] as const)
      .filter((kind) => counts[kind] > 0)
      .map((kind): Due => {
        const wait = longestWait(waits, kind, now)
        const isCollected = kind === 'checkin' || counts.track >= this.#size || !collecting
        return {
          kind,
          wait,
          at: Math.max(
            wait === undefined ? now : now + msLeft(wait, now),
            isCollected ? 0 : this.#lastTrackAt + this.#limits.collectMs,
            collecting && !network.online() ? this.#lastTriedAt + OFFLINE_MS : 0,
          ),
        }
      })
    // Of two that are due now, the check-in goes first.
    return all.sort((a, b) => a.at - b.at)[0] ?? null
  }

  /** The network may be back: what waited for it alone is due. */
  async reconnect(): Promise<void> {
    this.#lastTriedAt = this.#lastTrackAt = -Infinity
    await this.#changeWaits(afterReconnection)
  }

  /** Forgets every wait. */
  async forgive(): Promise<void> {
    this.#stopped = null
    await this.#changeWaits(() => ({}))
    await this.refresh()
  }

  async #changeWaits(change: (waits: Waits) => Waits): Promise<void> {
    const { client, store } = this.#parts
    const who = await client.identity()
    if (who === undefined) return
    const waits = await store.waits(who.userId)
    if (Object.keys(waits).length > 0) await store.setWaits(who.userId, change(waits))
  }
}

/** The phone's offline queue: keeps points on the device until the service stores them. */
import { type Kept, keepPoints } from './keep-points.ts'
import { createShownState, type QueueState } from './queue-state.ts'
import { type Limits, type Parts, Rounds } from './rounds.ts'
import type { RecordedPoint } from './queued-point.ts'
import { createSendLoop } from './send-loop.ts'
import type { Kind, QueuedPoint, RejectedPoint } from './store.ts'
import { type Clock, type Network, systemClock, systemNetwork } from './surroundings.ts'

export interface TrackQueueOptions extends Pick<Parts, 'client' | 'store' | 'onSent'> {
  readonly clock?: Clock
  readonly network?: Network
  readonly limits?: Partial<Limits>
}

export interface TrackQueue {
  /** Keeps a point of the track, or several: all of them or none. */
  record(points: RecordedPoint | readonly RecordedPoint[]): Promise<Kept>
  /** Keeps a check-in. It is sent as soon as it can be, once: its time identifies it. */
  checkIn(point: RecordedPoint): Promise<Kept>
  /** Sends by itself from now on, until `stop`. */
  start(): void
  /** Ends sending, also a request on its way. Points stay in the store. */
  stop(): Promise<void>
  /** Sends all that may be sent now, without collecting. Resolves when nothing is left or the rest has to wait. */
  send(): Promise<QueueState>
  /** After a sign-in, or to try again what the service refused: forgets the waits. */
  resume(): Promise<void>
  readonly state: QueueState
  /** Calls the listener at each change of the state. Returns a function that ends it. */
  subscribe(listener: (state: QueueState) => void): () => void
  /** What waits, oldest first, for an export. */
  waiting(): Promise<QueuedPoint[]>
  rejected(): Promise<RejectedPoint[]>
  /** Forgets rejected points that the app has shown. */
  dismiss(points: readonly RejectedPoint[]): Promise<void>
}

/** More points than any phone records, and a count that IndexedDB takes. */
const ALL = 2 ** 31 - 1

/** Creates a queue. Everything that waits is in the store, so it may be created anew at any moment. */
export function createTrackQueue(options: TrackQueueOptions): TrackQueue {
  const { client, store, clock = systemClock, network = systemNetwork } = options
  const shown = createShownState()
  const rounds = new Rounds({ ...options, clock, network, limits: options.limits ?? {}, show: shown.show })
  const { start, stop, awaken } = createSendLoop(rounds, clock, network)

  async function keep(kind: Kind, points: readonly RecordedPoint[]): Promise<Kept> {
    const kept = await keepPoints({ client, store, clock }, kind, points)
    if (!kept.ok) return kept
    // When the store cannot be read, the round that begins now says so.
    await rounds.refresh().catch(() => undefined)
    awaken()
    return kept
  }

  /** The pilgrim's points, or none while nobody is signed in. */
  async function ofPilgrim<T>(read: (userId: string) => Promise<T[]>): Promise<T[]> {
    const who = await client.identity()
    return who === undefined ? [] : read(who.userId)
  }

  return {
    record: (points) => keep('track', 'length' in points ? points : [points]),
    checkIn: (point) => keep('checkin', [point]),
    start,
    stop,
    async send() {
      await rounds.run({ signal: new AbortController().signal, collecting: false })
      return shown.state
    },
    async resume() {
      await rounds.forgive()
      awaken()
    },
    get state() {
      return shown.state
    },
    subscribe: shown.subscribe,
    waiting: () =>
      ofPilgrim(async (userId) => {
        const kinds = await Promise.all(
          (['checkin', 'track'] as const).map((kind) => store.oldest(userId, kind, ALL)),
        )
        return kinds.flat().sort((a, b) => a.t - b.t)
      }),
    rejected: () => ofPilgrim((userId) => store.rejected(userId)),
    async dismiss(points) {
      await store.dismiss(points)
      await rounds.refresh()
    },
  }
}

/** The phone's offline queue: stores points on the device until the service has stored them. */
import { failure } from '../answer.ts'
import { type Kept, queuedPoint, type RecordedPoint, readOwner } from './queued-point.ts'
import { createShownState, type QueueState } from './queue-state.ts'
import { type Parts, Rounds } from './rounds.ts'
import {
  type Entry,
  isPointKind,
  type Kind,
  KINDS,
  type QueuedPoint,
  type QueueStore,
  type Rejected,
  type RejectedPoint,
} from './store.ts'
import { type Clock, type Network, systemClock, systemNetwork } from './clock-and-network.ts'

export interface TrackQueueOptions extends Pick<Parts, 'client' | 'store' | 'onSent' | 'added' | 'holds'> {
  readonly clock?: Clock | undefined
  readonly network?: Network | undefined
  readonly limits?: Parts['limits'] | undefined
}

export interface TrackQueue {
  /** Resolves with the state after the first read of the store. Never rejects: `why` reports a failed read. */
  readonly ready: Promise<QueueState>
  /** Stores one point of the track, or several: all of them or none. */
  record(points: RecordedPoint | readonly RecordedPoint[]): Promise<Kept>
  /** Stores a check-in. It is sent as soon as possible, and counts once: its time identifies it. */
  checkIn(point: RecordedPoint): Promise<Kept>
  /**
   * Stores an entry of an app's own kind (`added`) for the pilgrim of `identity`. Its time identifies it: if another
   * entry of the kind has the same time, the next free millisecond is used.
   */
  keep(kind: string, fields: object): Promise<Kept>
  /** Waiting entries of an added kind, oldest first. As `waiting`. */
  entries(kind: string): Promise<Entry[]>
  /** Removes entries that are not sent yet. Rejects if the store fails. */
  withdraw(entries: readonly Entry[]): Promise<void>
  /** Entries of added kinds that the service has refused for good, oldest first. As `waiting`. */
  refused(): Promise<Rejected[]>
  /** Call it when the result of `holds` changes. */
  awaken(): void
  /** Call it after the service has answered another request: entries that waited for the connection are due. */
  reconnected(): Promise<void>
  /** Sends automatically until `stop`. */
  start(): void
  /** Stops sending and aborts the current request. Points stay in the store. */
  stop(): Promise<void>
  /**
   * Sends everything that may be sent now, without collecting. Resolves when nothing is left or the rest has to wait. A
   * wait requested by the service holds, also from an earlier run: call `await queue.resume()` first to override it.
   */
  send(): Promise<QueueState>
  /** After a sign-in, or to retry what the service refused: clears the waits. Rejects if the store fails. */
  resume(): Promise<void>
  readonly state: QueueState
  /** Calls the listener at each change of the state. Returns a function that ends it. */
  subscribe(listener: (state: QueueState) => void): () => void
  /** Waiting points, oldest first, for an export; empty while nobody is signed in. Rejects if the store fails. */
  waiting(): Promise<QueuedPoint[]>
  /** Points that the service has refused for good, oldest first. As `waiting`. */
  rejected(): Promise<RejectedPoint[]>
  /** Removes rejected points that the app has shown. Rejects if the store fails. */
  dismiss(points: readonly Rejected[]): Promise<void>
}

/** Stores all of these points, or returns why it stores none. Never rejects. */
async function keepPoints(
  { client, store, clock }: Pick<Parts, 'client' | 'store' | 'clock'>,
  kind: Kind,
  given: readonly RecordedPoint[],
): Promise<Kept> {
  const who = await readOwner(client)
  if (!who.ok) return who
  try {
    const points = given.map((point) => queuedPoint(who.userId, kind, point, clock.now()))
    const wrong = points.find((point) => 'ok' in point)
    if (wrong !== undefined) return wrong
    await store.add(points as QueuedPoint[])
    return { ok: true }
  } catch (error) {
    return failure('storage', `This device cannot keep it: ${(error as Error).message}`)
  }
}

/** More points than any phone records, within the range of IndexedDB's counts. */
const ALL = 2 ** 31 - 1

async function allOf(store: QueueStore, userId: string): Promise<QueuedPoint[]> {
  const kinds = await Promise.all(KINDS.map((kind) => store.oldest(userId, kind, ALL)))
  return (kinds.flat() as QueuedPoint[]).sort((a, b) => a.t - b.t)
}

/** Creates a queue. All waiting entries are in the store, so a queue may be created again at any moment. */
export function createTrackQueue(options: TrackQueueOptions): TrackQueue {
  const { client, store, clock = systemClock, network = systemNetwork } = options
  const shown = createShownState()
  const rounds = new Rounds({ ...options, clock, network, limits: options.limits ?? {}, show: shown.show })
  const { start, stop, awaken } = createSendLoop(rounds, clock, network)

  async function keep(kind: Kind, points: readonly RecordedPoint[]): Promise<Kept> {
    const kept = await keepPoints({ client, store, clock }, kind, points)
    if (!kept.ok) return kept
    await rounds.look()
    awaken()
    return kept
  }

  async function addEntry(owner: ReturnType<typeof readOwner>, kind: string, fields: object): Promise<Kept> {
    const who = await owner
    if (!who.ok) return who
    const { userId } = who
    const text = JSON.stringify(fields)
    try {
      for (;;) {
        const taken = [...(await store.oldest(userId, kind, ALL)), ...(await store.rejected(userId))]
        const t = Math.max(clock.now(), ...taken.map((entry) => (entry.kind === kind ? entry.t + 1 : 0)))
        await store.add([{ userId, kind, t, fields }])
        const kept = (await store.oldest(userId, kind, ALL)).find((entry) => entry.t === t)
        // Another tab may have used the same time, or has sent the entry already.
        if (kept === undefined || JSON.stringify(kept.fields) === text) break
      }
    } catch (error) {
      return failure('storage', `This device cannot keep it: ${(error as Error).message}`)
    }
    await rounds.look()
    awaken()
    return { ok: true }
  }

  /** Serialized, so that no two use the same time. */
  let adding: Promise<unknown> = Promise.resolve()
  function keepEntry(kind: string, fields: object): Promise<Kept> {
    // Whoever is signed in at the call, and not when its turn comes.
    const owner = readOwner(client)
    const kept = adding.then(() => addEntry(owner, kind, fields))
    adding = kept
    return kept
  }

  /** The pilgrim's points, or none while nobody is signed in. The state shows the result. */
  async function ofPilgrim<T>(read: (userId: string) => Promise<T[]>): Promise<T[]> {
    const who = await readOwner(client)
    const points = who.ok ? await read(who.userId) : []
    await rounds.look()
    return points
  }

  const ready = rounds.look().then(() => shown.state)
  return {
    ready,
    record: (points) => keep('track', 'length' in points ? points : [points]),
    checkIn: (point) => keep('checkin', [point]),
    keep: keepEntry,
    entries: (kind) => ofPilgrim((userId) => store.oldest(userId, kind, ALL)),
    async withdraw(entries) {
      await store.settle(entries, [])
      await rounds.look()
    },
    refused: () =>
      ofPilgrim(async (userId) => (await store.rejected(userId)).filter(({ kind }) => !isPointKind(kind))),
    awaken() {
      void rounds.look()
      awaken()
    },
    async reconnected() {
      await rounds.reconnect()
      awaken()
    },
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
    waiting: () => ofPilgrim((userId) => allOf(store, userId)),
    rejected: () =>
      ofPilgrim(
        async (userId) =>
          (await store.rejected(userId)).filter(({ kind }) => isPointKind(kind)) as RejectedPoint[],
      ),
    async dismiss(points) {
      await store.dismiss(points)
      await rounds.look()
    },
  }
}

function createSendLoop(rounds: Rounds, clock: Clock, network: Network) {
  let running: { readonly stopping: AbortController; readonly ended: Promise<void> } | null = null
  let sleep = new AbortController()
  const awaken = () => sleep.abort()

  async function run(stopping: AbortSignal): Promise<void> {
    stopping.addEventListener('abort', awaken)
    while (!stopping.aborted) {
      // Set before the round: points recorded while it runs belong to the next one.
      sleep = new AbortController()
      const { signal } = sleep
      const next = await rounds.run({ signal: stopping, collecting: true })
      if (!stopping.aborted)
        await clock.sleep(next === null ? Infinity : Math.max(0, next - clock.now()), signal)
    }
  }

  return {
    awaken,
    start(): void {
      if (running !== null) return
      const stopping = new AbortController()
      // If the store fails, the next round reports it.
      const leave = network.subscribe(() => void rounds.reconnect().then(awaken, awaken))
      running = { stopping, ended: run(stopping.signal).finally(leave) }
    },
    /** Resolves when no request is in progress. */
    async stop(): Promise<void> {
      const was = running
      running = null
      was?.stopping.abort()
      await was?.ended
    },
  }
}

/**
 * Polls the stores while there are clients, once for all of them: the event's status and the progress of its end in the
 * database; counters, positions and the incident in the kv. Each store has its own loop, so that a store that hangs
 * does not stop the events of the other.
 */
import { createIncidentStore, type Incident } from '#shared/service/alerts/when-to-alert.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { time } from '#shared/contracts/fields.ts'
import type { StreamIncident, Snapshot, StreamData, StreamEventName } from '#shared/contracts/stream.ts'
import { within } from '#shared/runtime/deadline.ts'
import { readEndProgress } from '#shared/pilgrims/activity-status.ts'
import type { Moved } from '#shared/stores/kv/kv.ts'
import { type Repeated, repeated } from '#shared/stores/repeated-work.ts'
import { readActivity } from '../lifecycle/pause-resume-end.ts'
import { countsOf, type CountersReading, hasChanges } from './counts.ts'
import { changesAfter, type Cursor, lastChange } from './cursor.ts'

const POLL_MS = 1_000
/** Maximum wait of a new client for the stores. Missing parts are null. */
const FIRST_POLL_MS = 2_000
/** Maximum number of positions of a partition per poll; the rest follows in the next. */
const MAX_MOVED = 5_000

/** Receives the events of a watch. The watch's own state is up to date when they are called. */
interface Listeners {
  event<N extends StreamEventName>(name: N, data: StreamData<N>): void
  moved(positions: readonly Moved[]): void
}

type Seen = Omit<Snapshot, 'at' | 'resumed'>

export type Watch = ReturnType<typeof startWatch>

type Held = { -readonly [K in keyof Seen]: Seen[K] }
type Place = { -readonly [K in keyof Cursor]: Cursor[K] }

export function startWatch(context: ServiceContext, listeners: Listeners) {
  const seen: Held = {
    status: null,
    ending: null,
    counts: null,
    incident: null,
  }
  const cursor = { change: 0, movedMs: 0 }
  const polled = (poll: () => Promise<void>): Repeated => {
    const polling = repeated(context.log, 'polling for the stream failed', POLL_MS, poll)
    polling.start()
    return polling
  }
  const event = polled(() => pollEvent(context, seen, cursor, listeners))
  const kv = polled(createKvPoll(context, seen, cursor, listeners))
  return {
    /** Resolves when both stores have been polled once, or after a timeout. */
    ready: within(Promise.all([event.run(), kv.run()]), FIRST_POLL_MS, () => undefined),
    seen,
    cursor,
    stop(): void {
      void event.stop()
      void kv.stop()
    },
  }
}

async function pollEvent(
  context: ServiceContext,
  seen: Held,
  cursor: Place,
  listeners: Listeners,
): Promise<void> {
  const { db } = context
  if (seen.status === null) {
    // In this order, a change between the two reads is sent twice rather than missed.
    cursor.change = await lastChange(context)
    const { ending, ...status } = await readActivity(context)
    Object.assign(seen, { status, ending })
    // For clients that connected while the database was unavailable.
    listeners.event('status', status)
    if (ending !== null) listeners.event('ending', ending)
    return
  }
  for (const { id, seen: status } of await changesAfter(context, cursor.change)) {
    cursor.change = id
    seen.status = status
    listeners.event('status', status)
  }
  if (seen.status.status !== 'ended') return
  const ending = await db.read(() => readEndProgress(db))
  if (ending === null || Bun.deepEquals(ending, seen.ending)) return
  seen.ending = ending
  listeners.event('ending', ending)
}

function createKvPoll(
  context: ServiceContext,
  seen: Held,
  cursor: Place,
  listeners: Listeners,
): () => Promise<void> {
  const { kv, now } = context
  const incidents = createIncidentStore(context)
  let follow: (() => Promise<Followed>) | null = null
  let before: CountersReading | null = null

  const count = async (): Promise<void> => {
    const reading = { counters: await kv.counters(), atMs: performance.now() }
    const counts = countsOf(before, reading, now())
    before = reading
    const changed = hasChanges(seen.counts, counts)
    seen.counts = counts
    if (changed) listeners.event('counts', counts)
  }
  const watchIncident = async (): Promise<void> => {
    const incident = incidentSeen(await incidents.recall())
    const last = seen.incident
    if (Bun.deepEquals(incident, last)) return
    seen.incident = incident
    // When one incident replaces another, the end of the old one is sent first.
    if (last !== null && last.id !== incident?.id)
      listeners.event('alert', { state: 'recovered', incident: last })
    if (incident !== null)
      listeners.event('alert', { state: last?.id === incident.id ? 'changed' : 'opened', incident })
  }
  return async () => {
    await count()
    if (follow === null) {
      cursor.movedMs = await kv.clock()
      follow = followMoved(context, cursor.movedMs)
    }
    const { moved, throughMs } = await follow()
    cursor.movedMs = throughMs
    if (moved.length > 0) listeners.moved(moved)
    await watchIncident()
  }
}

export const incidentSeen = (incident: Incident | null): StreamIncident | null =>
  incident && {
    id: incident.id,
    opened_at: time(incident.openedMs),
    failure: incident.mildSinceMs === null,
    alerts: incident.alerts,
  }

interface Followed {
  readonly moved: readonly Moved[]
  /** All positions up to this time of the kv's clock have been returned, in all partitions. */
  readonly throughMs: number
}

/** @returns a function that returns the positions that have changed since its last call */
function followMoved({ kv }: ServiceContext, sinceMs: number): () => Promise<Followed> {
  const partitions = Array.from({ length: kv.partitions }, (_, partition) => ({
    partition,
    sinceMs,
    // The last millisecond is read again, because more positions may have changed in it.
    sent: new Set<string>(),
  }))
  return async () => {
    const clockMs = await kv.clock()
    const pages = await Promise.all(
      partitions.map(async (place) => {
        const page = await kv.moved(place.partition, place.sinceMs, MAX_MOVED)
        const moved = page.filter(({ userId, movedMs }) => movedMs > place.sinceMs || !place.sent.has(userId))
        const last = page.at(-1)?.movedMs ?? place.sinceMs
        place.sent = new Set(page.filter(({ movedMs }) => movedMs === last).map(({ userId }) => userId))
        place.sinceMs = last
        return { moved, last, isCut: page.length === MAX_MOVED }
      }),
    )
    // A client resumes after this time, so it must not exceed what a partition with more pages has returned, nor the
    // clock before the reading: the next change of a partition gets the clock's time, while many changes at once have
    // pushed another partition's times ahead of the clock.
    const cut = pages.filter(({ isCut }) => isCut).map(({ last }) => last)
    const last = cut.length > 0 ? Math.min(...cut) : Math.max(...pages.map((page) => page.last))
    const throughMs = Math.min(last, clockMs)
    return { moved: pages.flatMap(({ moved }) => moved), throughMs }
  }
}

/**
 * What is looked at while somebody listens, once for all of them: the event's status and its end in the
 * database, what is admitted, who moved and the incident in the kv. Each store has a loop of its own, so that one
 * that hangs does not silence the other.
 */
import { createAlertState } from '#shared/alerts/alert-state.ts'
import type { Incident } from '#shared/alerts/incident.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { time } from '#shared/contracts/fields.ts'
import type { IncidentSeen, Snapshot, StreamData, StreamEventName } from '#shared/contracts/stream.ts'
import { isDatabaseUnavailable } from '#shared/db/db.ts'
import { within } from '#shared/runtime/deadline.ts'
import { readEndProgress } from '#shared/lifecycle/end-progress.ts'
import { isKvUnavailable, type Moved } from '#shared/kv/kv.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { readActivity } from '../lifecycle/activity-status.ts'
import { countsOf, type Look, hasChanges } from './counts.ts'
import { changesAfter, type Cursor, lastChange } from './cursor.ts'

const LOOK_EVERY_MS = 1_000
/** A client's beginning waits so long for stores that do not answer; what is missing then is null. */
const FIRST_LOOK_MS = 2_000
/** Positions of a partition told of in one look; the rest in the next. */
const MAX_MOVED = 5_000

/** Who hears what a watch sees. The watch's own state is up to date when it tells. */
export interface Listeners {
  event<N extends StreamEventName>(name: N, data: StreamData<N>): void
  moved(positions: readonly Moved[]): void
}

type Seen = Omit<Snapshot, 'at' | 'resumed'>

export interface Watch {
  /** Resolves when everything that can be seen has been looked at. */
  readonly ready: Promise<unknown>
  readonly seen: Readonly<Seen>
  readonly cursor: Cursor
  stop(): void
}

export function startWatch(context: ServiceContext, ears: Listeners): Watch {
  const seen: { -readonly [K in keyof Seen]: Seen[K] } = {
    status: null,
    ending: null,
    counts: null,
    incident: null,
  }
  const cursor = { change: 0, movedMs: context.now() }
  const event = repeat(context, () => lookAtEvent(context, seen, cursor, ears))
  const kv = repeat(context, createKvLook(context, seen, cursor, ears))
  return {
    ready: within(Promise.all([event.first, kv.first]), FIRST_LOOK_MS, () => undefined),
    seen,
    cursor,
    stop() {
      event.stop()
      kv.stop()
    },
  }
}

/** Looks now and each second after the last look. A store that is away is looked at again. */
function repeat({ log }: ServiceContext, look: () => Promise<void>) {
  let stopped = false
  let timer: Timer | undefined
  const run = async (): Promise<void> => {
    try {
      await look()
    } catch (error) {
      if (!isDatabaseUnavailable(error) && !isKvUnavailable(error))
        log.error('the stream misses a look', errorFields(error))
    }
    if (!stopped) timer = setTimeout(() => void run(), LOOK_EVERY_MS)
  }
  return {
    first: run(),
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}

type Held = { -readonly [K in keyof Seen]: Seen[K] }
type Place = { -readonly [K in keyof Cursor]: Cursor[K] }

async function lookAtEvent(
  context: ServiceContext,
  seen: Held,
  cursor: Place,
  ears: Listeners,
): Promise<void> {
  const { db } = context
  if (seen.status === null) {
    // In this order: a change between the two is told of again, and not missed.
    cursor.change = await lastChange(context)
    const { ending, ...status } = await readActivity(context)
    Object.assign(seen, { status, ending })
    // For whoever began while the database was away.
    ears.event('status', status)
    if (ending !== null) ears.event('ending', ending)
    return
  }
  for (const { id, seen: status } of await changesAfter(context, cursor.change)) {
    cursor.change = id
    seen.status = status
    ears.event('status', status)
  }
  if (seen.status.status !== 'ended') return
  const ending = await db.read(() => readEndProgress(db.orm))
  if (ending === null || Bun.deepEquals(ending, seen.ending)) return
  seen.ending = ending
  ears.event('ending', ending)
}

function createKvLook(
  context: ServiceContext,
  seen: Held,
  cursor: Place,
  ears: Listeners,
): () => Promise<void> {
  const { kv, now } = context
  const told = createAlertState(context)
  let follow: (() => Promise<Followed>) | null = null
  let before: Look | null = null

  const count = async (): Promise<void> => {
    const look = { books: await kv.books(), atMs: performance.now() }
    const counts = countsOf(before, look, now())
    before = look
    const tell = hasChanges(seen.counts, counts)
    seen.counts = counts
    if (tell) ears.event('counts', counts)
  }
  const watchIncident = async (): Promise<void> => {
    const incident = incidentSeen(await told.recall())
    const last = seen.incident
    if (Bun.deepEquals(incident, last)) return
    seen.incident = incident
    // One that took the place of another is told of as that one's end, and its own beginning.
    if (last !== null && last.id !== incident?.id) ears.event('alert', { state: 'recovered', incident: last })
    if (incident !== null)
      ears.event('alert', { state: last?.id === incident.id ? 'changed' : 'opened', incident })
  }
  return async () => {
    await count()
    if (follow === null) {
      cursor.movedMs = await kv.clock()
      follow = followMoved(context, cursor.movedMs)
    }
    const { moved, throughMs } = await follow()
    cursor.movedMs = Math.max(cursor.movedMs, throughMs)
    if (moved.length > 0) ears.moved(moved)
    await watchIncident()
  }
}

const incidentSeen = (incident: Incident | null): IncidentSeen | null =>
  incident && {
    id: incident.id,
    opened_at: time(incident.openedMs),
    failure: incident.mildSinceMs === null,
    alerts: incident.alerts,
  }

interface Followed {
  readonly moved: readonly Moved[]
  /** Everybody who had moved until then is told of, of all partitions. */
  readonly throughMs: number
}

/** @returns a function that answers who has moved since its last call */
function followMoved({ kv }: ServiceContext, sinceMs: number): () => Promise<Followed> {
  const partitions = Array.from({ length: kv.partitions }, (_, partition) => ({
    partition,
    sinceMs,
    // The last millisecond is read again: more may have moved in it.
    told: new Set<string>(),
  }))
  return async () => {
    const pages = await Promise.all(
      partitions.map(async (held) => {
        const page = await kv.moved(held.partition, held.sinceMs, MAX_MOVED)
        const moved = page.filter(({ userId, movedMs }) => movedMs > held.sinceMs || !held.told.has(userId))
        const last = page.at(-1)?.movedMs ?? held.sinceMs
        held.told = new Set(page.filter(({ movedMs }) => movedMs === last).map(({ userId }) => userId))
        held.sinceMs = last
        return { moved, last, isCut: page.length === MAX_MOVED }
      }),
    )
    // Who comes back is told what came after: as long as a partition has more to tell, no other one decides.
    const cut = pages.filter(({ isCut }) => isCut).map(({ last }) => last)
    const throughMs = cut.length > 0 ? Math.min(...cut) : Math.max(...pages.map(({ last }) => last))
    return { moved: pages.flatMap(({ moved }) => moved), throughMs }
  }
}

/**
 * Domain events between services: written in the transaction of the change that they report, announced on the bus
 * after the commit, and announced again by a sweep until each subscriber has handled them.
 */
import type { MachineClock } from '#shared/runtime/clock.ts'
import type { Bus } from './bus.ts'
import {
  type Event,
  EVENTS,
  type Payload,
  type Subject,
  type Subscriber,
  SUBSCRIBERS,
} from '#shared/contracts/events.ts'
import type { Database, Tx } from '#shared/stores/db/db.ts'
import { eachApart, type Reporting, type Repeated, repeated } from '#shared/stores/repeated-work.ts'
import { originOf, span, traceparent } from '#shared/runtime/traces.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { handled, outbox } from '#shared/stores/schema/tables.ts'
import { and, desc, eq, gt, gte, inArray, lt, notExists } from 'drizzle-orm'

export interface Outbox {
  /** Writes an event in the caller's transaction; call `ring` after the commit. */
  add<S extends Subject>(tx: Tx, subject: S, payload: Payload<S>): Promise<Event<S>>
  /** Writes events, at least one, in one statement. */
  addAll<S extends Subject>(tx: Tx, subject: S, payloads: readonly Payload<S>[]): Promise<Event<S>[]>
  /** Announces a committed event on the bus. Never fails, because the sweep announces it again. */
  ring(event: Event): Promise<void>
  /**
   * Calls `act` for each event of a subscriber, at least once; `act` must be safe to repeat. An event is handled
   * when `act` has resolved.
   */
  on(subscriber: Subscriber, act: (event: Event) => Promise<void>): Promise<void>
  stop(): Promise<void>
}

/** Timing of the sweep, which finds events that the bus did not deliver. */
interface Sweeping {
  readonly everyMs: number
  /** Minimum age: the bus may still deliver younger events. */
  readonly afterMs: number
}

const SWEEPING: Sweeping = { everyMs: 15_000, afterMs: 5_000 }
/** Maximum age of swept events: older ones are obsolete, such as last week's pause. */
const SWEEP_UNTIL_MS = 7 * 86_400_000
const SWEEP_BATCH = 100
/** No transaction is open for this long: an older event is committed, and so are those with smaller ids. */
const SETTLED_MS = 600_000
/** This many ids before that event are still read, because the clocks of processes differ. */
const SETTLED_IDS = 1_000

type Act = (event: Event) => Promise<void>

export function createOutbox(
  db: Database,
  bus: Bus,
  now: MachineClock,
  reporting: Reporting,
  sweeping: Sweeping = SWEEPING,
): Outbox {
  const { log, metrics } = reporting
  const sweeps: Repeated[] = []
  /** When the oldest event that a subscriber has not handled was written, epoch milliseconds. */
  const oldestMs = new Map<Subscriber, number | null>()
  metrics.figures('event_outbox_age_seconds', () =>
    Object.fromEntries(
      Array.from(oldestMs, ([name, ms]) => [name, ms === null ? 0 : Math.max(0, (now() - ms) / 1_000)]),
    ),
  )
  let isOpen = true
  const addAll: Outbox['addAll'] = async (tx, subject, payloads) => {
    const createdAt = new Date(now())
    const rows = await tx.orm
      .insert(outbox)
      .values(payloads.map((payload) => ({ subject, payload, createdAt })))
      .returning({ id: outbox.id })
    return rows.map(({ id }, i) => ({ id, subject, payload: payloads[i]! }))
  }
  return {
    add: async (tx, subject, payload) => (await addAll(tx, subject, [payload]))[0]!,
    addAll,
    async ring({ id, subject }) {
      try {
        await span('announce event', { subject }, () => bus.publish(subject, id, traceparent()))
      } catch (error) {
        log.warn('the bus did not accept an event; the sweep will deliver it', {
          subject,
          event_id: id,
          ...errorFields(error),
        })
      }
    },
    async on(subscriber, act) {
      const handle = createHandling(db, now, subscriber, act)
      for (const subject of SUBSCRIBERS[subscriber])
        await bus.subscribe(subject, subscriber, (id, parent) =>
          span(
            'handle event',
            { subject, subscriber },
            () => handle(id),
            () => [originOf(parent)],
          ),
        )
      const pages = createPendingEvents(db, subscriber, now, sweeping.afterMs, (ms) =>
        oldestMs.set(subscriber, ms),
      )
      const sweep = repeated(log, `the sweep of events failed: ${subscriber}`, sweeping.everyMs, () =>
        eachApart(reporting, subscriber, pages(), async (id) => isOpen && handle(id)),
      )
      sweep.start()
      sweeps.push(sweep)
    },
    async stop() {
      isOpen = false
      await Promise.all(sweeps.map((sweep) => sweep.stop()))
    },
  }
}

/** Selects the row of `handled` for an event and a subscriber. */
const isHandled = (db: Database, subscriber: Subscriber) =>
  db.orm
    .select()
    .from(handled)
    .where(and(eq(handled.eventId, outbox.id), eq(handled.subscriber, subscriber)))

/**
 * @returns a function that handles an event unless it was already handled. If the bus and the sweep deliver the same
 *   event at the same time, both wait for the same call.
 */
function createHandling(db: Database, now: MachineClock, subscriber: Subscriber, act: Act) {
  const inProgress = new Map<number, Promise<void>>()
  const handle = async (id: number): Promise<void> => {
    const [row] = await db.read(() =>
      db.orm
        .select()
        .from(outbox)
        .where(
          and(
            eq(outbox.id, id),
            // After a restore, the bus may deliver the number of an event that now belongs to another event.
            inArray(outbox.subject, [...SUBSCRIBERS[subscriber]]),
            notExists(isHandled(db, subscriber)),
          ),
        ),
    )
    if (row === undefined) return
    const subject = row.subject as Subject
    await act({ id, subject, payload: EVENTS[subject].parse(row.payload) })
    await db.orm
      .insert(handled)
      .values({ eventId: id, subscriber, handledAt: new Date(now()) })
      .onConflictDoNothing()
  }
  return (id: number): Promise<void> => {
    const running = inProgress.get(id)
    if (running !== undefined) return running
    const handling = handle(id).finally(() => inProgress.delete(id))
    inProgress.set(id, handling)
    return handling
  }
}

/**
 * @param tellOldest receives the write time of the oldest of them; null: there is none
 * @returns a function that reads the events that a subscriber has not handled, oldest first, page by page. The next
 *   call begins near the oldest of them, so that a week of handled events is not scanned again.
 */
function createPendingEvents(
  db: Database,
  subscriber: Subscriber,
  now: MachineClock,
  afterMs: number,
  tellOldest: (createdMs: number | null) => void,
): () => AsyncGenerator<number> {
  let fromId = 0
  return async function* () {
    const nowMs = now()
    const settled = await db.read(() =>
      db.orm
        .select({ id: outbox.id })
        .from(outbox)
        .where(lt(outbox.createdAt, new Date(nowMs - SETTLED_MS)))
        .orderBy(desc(outbox.createdAt))
        .limit(1),
    )
    const readPage = (from: number) =>
      db.orm
        .select({ id: outbox.id, createdAt: outbox.createdAt })
        .from(outbox)
        .where(
          and(
            gte(outbox.id, from),
            inArray(outbox.subject, [...SUBSCRIBERS[subscriber]]),
            gt(outbox.createdAt, new Date(nowMs - SWEEP_UNTIL_MS)),
            notExists(isHandled(db, subscriber)),
          ),
        )
        .orderBy(outbox.id)
        .limit(SWEEP_BATCH)
    let rows = await db.read(() => readPage(fromId))
    // An event in the future was written under a fast clock. Its age is unknown, so it is due.
    const isDue = ({ createdAt }: (typeof rows)[number]): boolean =>
      createdAt.getTime() > nowMs || createdAt.getTime() < nowMs - afterMs
    const dueMs = rows.filter(isDue).map(({ createdAt }) => createdAt.getTime())
    tellOldest(dueMs.length === 0 ? null : Math.min(...dueMs))
    fromId = Math.max(fromId, Math.min(rows[0]?.id ?? Infinity, (settled[0]?.id ?? 0) - SETTLED_IDS))
    for (;;) {
      for (const row of rows) if (isDue(row)) yield row.id
      if (rows.length < SWEEP_BATCH) return
      // Continue after this page instead of starting again: its first event may fail every time.
      const next = rows.at(-1)!.id + 1
      rows = await db.read(() => readPage(next))
    }
  }
}

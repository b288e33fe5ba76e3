/**
 * Events between services: written in the transaction of the change they report, rung for after the commit,
 * swept until each subscriber has handled them.
 */
import type { Bus } from '#shared/bus/bus.ts'
import {
  type Event,
  EVENTS,
  type Payload,
  type Subject,
  type Subscriber,
  SUBSCRIBERS,
} from '#shared/contracts/events.ts'
import type { Database, Orm } from '#shared/db/db.ts'
import { isDatabaseUnavailable } from '#shared/db/db.ts'
import { errorFields, type Log } from '#shared/runtime/log.ts'
import { handled, outbox } from '#shared/schema/outbox.ts'
import { and, eq, gt, inArray, lt, notExists } from 'drizzle-orm'

/** What a transaction of drizzle and drizzle itself have in common. */
export type Writer = Pick<Orm, 'insert' | 'select' | 'update' | 'delete' | 'execute'>

export interface Outbox {
  /** Writes an event in the caller's transaction; `ring` it after the commit. */
  add<S extends Subject>(tx: Writer, subject: S, payload: Payload<S>): Promise<Event<S>>
  /** Rings for a committed event. Never fails: the sweep rings again. */
  ring(event: Event): Promise<void>
  /**
   * Acts on a subscriber's events, at least once each; `act` must be safe to repeat. An event counts as
   * handled when `act` has resolved.
   */
  on(subscriber: Subscriber, act: (event: Event) => Promise<void>): Promise<void>
  stop(): Promise<void>
}

/** When an outbox looks for events that the bus did not bring. */
export interface Sweeping {
  readonly everyMs: number
  /** Younger events are still on their way by the bus. */
  readonly afterMs: number
}

const SWEEPING: Sweeping = { everyMs: 15_000, afterMs: 5_000 }
/** Older ones are history: nobody wants a message about last week's pause. */
const SWEEP_UNTIL_MS = 7 * 86_400_000
const SWEEP_AT_ONCE = 100

type Act = (event: Event) => Promise<void>

export function createOutbox(
  db: Database,
  bus: Bus,
  now: () => number,
  log: Log,
  sweeping: Sweeping = SWEEPING,
): Outbox {
  const sweeps: Sweep[] = []
  return {
    async add(tx, subject, payload) {
      const [row] = await tx
        .insert(outbox)
        .values({ subject, payload, createdAt: new Date(now()) })
        .returning({ id: outbox.id })
      return { id: row!.id, subject, payload }
    },
    async ring({ id, subject }) {
      try {
        await bus.publish(subject, id)
      } catch (error) {
        log.warn('the bus did not take an event; the sweep brings it', {
          subject,
          event_id: id,
          ...errorFields(error),
        })
      }
    },
    async on(subscriber, act) {
      const handle = createHandling(db, now, subscriber, act)
      for (const subject of SUBSCRIBERS[subscriber]) await bus.subscribe(subject, subscriber, handle)
      const report = (error: unknown): void => {
        if (!isDatabaseUnavailable(error))
          log.error('an event is not handled yet', { subscriber, ...errorFields(error) })
      }
      const waiting = () => waitingFor(db, subscriber, now(), sweeping.afterMs)
      sweeps.push(startSweep(waiting, handle, report, sweeping.everyMs))
    },
    async stop() {
      await Promise.all(sweeps.map((sweep) => sweep.stop()))
    },
  }
}

/** The row of `handled` that says that a subscriber is through with an event. */
const isHandled = (db: Database, subscriber: Subscriber) =>
  db.orm
    .select()
    .from(handled)
    .where(and(eq(handled.eventId, outbox.id), eq(handled.subscriber, subscriber)))

/**
 * @returns a function that acts on an event unless it is handled. The bus and the sweep may bring the same one
 * at the same time; then they wait for the same act.
 */
function createHandling(db: Database, now: () => number, subscriber: Subscriber, act: Act) {
  const underWay = new Map<number, Promise<void>>()
  const handle = async (id: number): Promise<void> => {
    const [row] = await db.read(() =>
      db.orm
        .select()
        .from(outbox)
        .where(and(eq(outbox.id, id), notExists(isHandled(db, subscriber)))),
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
    const already = underWay.get(id)
    if (already !== undefined) return already
    const handling = handle(id).finally(() => underWay.delete(id))
    underWay.set(id, handling)
    return handling
  }
}

/** Events that a subscriber has not handled, oldest first. */
async function waitingFor(
  db: Database,
  subscriber: Subscriber,
  nowMs: number,
  afterMs: number,
): Promise<number[]> {
  const rows = await db.read(() =>
    db.orm
      .select({ id: outbox.id })
      .from(outbox)
      .where(
        and(
          inArray(outbox.subject, [...SUBSCRIBERS[subscriber]]),
          gt(outbox.createdAt, new Date(nowMs - SWEEP_UNTIL_MS)),
          lt(outbox.createdAt, new Date(nowMs - afterMs)),
          notExists(isHandled(db, subscriber)),
        ),
      )
      .orderBy(outbox.id)
      .limit(SWEEP_AT_ONCE),
  )
  return rows.map(({ id }) => id)
}

interface Sweep {
  stop(): Promise<void>
}

/** Sweeps now and then, one sweep at a time. An event that fails does not keep the others. */
function startSweep(
  waiting: () => Promise<number[]>,
  handle: (id: number) => Promise<void>,
  report: (error: unknown) => void,
  everyMs: number,
): Sweep {
  let sweeping: Promise<void> | null = null
  let stopped = false
  const sweep = async (): Promise<void> => {
    for (const id of await waiting()) {
      if (stopped) return
      await handle(id).catch(report)
    }
  }
  const tick = () =>
    void (sweeping ??= sweep()
      .catch(report)
      .finally(() => (sweeping = null)))
  tick()
  const timer = setInterval(tick, everyMs)
  return {
    async stop() {
      stopped = true
      clearInterval(timer)
      await sweeping
    },
  }
}

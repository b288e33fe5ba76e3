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
import { errorFields, type Log } from '#shared/log.ts'
import { handled, outbox } from '#shared/schema/events.ts'
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

const SWEEP_EVERY_MS = 15_000
/** Younger events are still on their way by the bus. */
const SWEEP_AFTER_MS = 5_000
/** Older ones are history: nobody wants a message about last week's pause. */
const SWEEP_UNTIL_MS = 7 * 86_400_000

export function createOutbox(db: Database, bus: Bus, now: () => number, log: Log): Outbox {
  const timers: Timer[] = []
  const running = new Set<Promise<void>>()

  const handleOne = async (id: number, subscriber: Subscriber, act: (event: Event) => Promise<void>) => {
    const mine = and(eq(handled.eventId, outbox.id), eq(handled.subscriber, subscriber))
    const [row] = await db.read(() =>
      db.orm
        .select()
        .from(outbox)
        .where(and(eq(outbox.id, id), notExists(db.orm.select().from(handled).where(mine)))),
    )
    if (row === undefined) return
    const subject = row.subject as Subject
    await act({ id, subject, payload: EVENTS[subject].parse(row.payload) })
    await db.orm
      .insert(handled)
      .values({ eventId: id, subscriber, handledAt: new Date(now()) })
      .onConflictDoNothing()
  }

  const sweep = async (subscriber: Subscriber, act: (event: Event) => Promise<void>) => {
    const mine = and(eq(handled.eventId, outbox.id), eq(handled.subscriber, subscriber))
    const waiting = await db.read(() =>
      db.orm
        .select({ id: outbox.id })
        .from(outbox)
        .where(
          and(
            inArray(outbox.subject, [...SUBSCRIBERS[subscriber]]),
            gt(outbox.createdAt, new Date(now() - SWEEP_UNTIL_MS)),
            lt(outbox.createdAt, new Date(now() - SWEEP_AFTER_MS)),
            notExists(db.orm.select().from(handled).where(mine)),
          ),
        )
        .orderBy(outbox.id)
        .limit(100),
    )
    for (const { id } of waiting) await handleOne(id, subscriber, act)
  }

  const tracked = (run: () => Promise<void>, subscriber: Subscriber): void => {
    const promise: Promise<void> = run()
      .catch((error: unknown) => {
        if (!isDatabaseUnavailable(error))
          log.error('an event is not handled yet', { subscriber, ...errorFields(error) })
      })
      .finally(() => running.delete(promise))
    running.add(promise)
  }

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
      let sweeping = false
      const sweepOnce = () => {
        if (sweeping) return
        sweeping = true
        tracked(() => sweep(subscriber, act).finally(() => (sweeping = false)), subscriber)
      }
      for (const subject of SUBSCRIBERS[subscriber])
        await bus.subscribe(subject, subscriber, (id) => handleOne(id, subscriber, act))
      timers.push(setInterval(sweepOnce, SWEEP_EVERY_MS))
      sweepOnce()
    },
    async stop() {
      for (const timer of timers) clearInterval(timer)
      await Promise.all(running)
    },
  }
}

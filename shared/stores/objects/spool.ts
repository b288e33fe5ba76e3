/**
 * The spool: while the database is unavailable, items that must not be lost wait in the object store, or on a disk of
 * this process if the object store is down too.
 */
import { LineEvent } from '#shared/contracts/bot.ts'
import { SosPress } from '#shared/contracts/emergencies.ts'
import { rejectWith, within } from '#shared/runtime/deadline.ts'
import { errorFields, LoggableError } from '#shared/runtime/log.ts'
import { Refusal, unavailable } from '#shared/runtime/refusal.ts'
import { eachApart, type Reporting, type Repeated, repeated } from '../repeated-work.ts'
import { type Objects, ObjectDamaged } from './objects.ts'

interface SpoolKind<T> {
  /** Key prefix of its objects. */
  readonly prefix: string
  /** Name in the log and in metrics. */
  readonly name: string
  /** The item from parsed JSON; null if it is invalid. */
  read(value: unknown): T | null
  /** The last segment of the key: a repeated item has the same key. */
  keyOf(item: T): string
  /** The person, and the time of origin (epoch milliseconds). */
  ownerOf(item: T): { readonly userId: string | undefined; readonly atMs: number }
}

export const WEBHOOK_EVENTS: SpoolKind<LineEvent> = {
  prefix: 'webhooks/',
  name: 'spooled webhook events',
  read: (value) => LineEvent.safeParse(value).data ?? null,
  keyOf: ({ webhookEventId }) => webhookEventId.replaceAll(/[^A-Za-z0-9_-]/g, '-'),
  ownerOf: ({ source, timestamp }) => ({ userId: source?.userId, atMs: timestamp }),
}

export const SOS_PRESSES: SpoolKind<SosPress> = {
  prefix: 'emergencies/',
  name: 'spooled SOS presses',
  read: (value) => SosPress.safeParse(value).data ?? null,
  // User ids are valid in keys, but they may be as long as a whole segment.
  keyOf: ({ userId, keyHash, source, sentMs }) => `${userId ?? keyHash ?? ''}/${source}-${sentMs}`,
  ownerOf: ({ userId, receivedMs }) => ({ userId: userId ?? undefined, atMs: receivedMs }),
}

/** Timeout of each store. Together they stay below a second: LINE ignores an answer after 2 s. */
const STORE_MS = 450
/**
 * Maximum number of calls being stored in the database. A call that was answered from the spool still waits in the
 * database's queue; without a limit, flushes and requests would wait behind thousands of these.
 */
const MAX_STORING = 16
const DRAIN_EVERY_MS = 15_000

export interface Spool<T, R> {
  /**
   * Stores items in the database, else in the spool. They are durable when it resolves.
   * @returns the result of the database; null: they are in the spool
   * @throws Refusal 503 when no store is available, and any refusal by the database
   */
  keep(items: readonly T[]): Promise<R | null>
  /** Writes items to the object store. */
  put(items: readonly T[]): Promise<void>
  /**
   * Moves spooled items to the database. Safe to repeat. A refused item is dropped; one that cannot be moved stays or
   * is set aside, and does not block the others.
   * @throws when a store is unavailable
   */
  drain(): Promise<void>
  /** Drains it every 15 s. */
  readonly draining: Repeated
}

interface Storing<T, R> {
  /** Stores items in the database. Safe to repeat. */
  store(items: readonly T[]): Promise<R>
  /** Stores the text of an object that cannot be parsed. */
  setAside(text: string): Promise<void>
  /** Store for items that the object store does not accept; absent: they are refused. */
  readonly disk?: Promise<Objects>
}

export function createSpool<T, R>(
  context: Reporting & { readonly objects: Objects },
  kind: SpoolKind<T>,
  { store, setAside, disk }: Storing<T, R>,
): Spool<T, R> {
  const { log, objects } = context
  let storing = 0
  const storeInTime = (items: readonly T[]): Promise<R> => {
    if (storing >= MAX_STORING) throw new LoggableError(`${MAX_STORING} calls are being stored already`)
    storing++
    return inTime(store(items).finally(() => storing--))
  }
  const putInto = async (place: Objects, items: readonly T[]): Promise<void> => {
    await Promise.all(
      items.map((item) =>
        place.put(`${kind.prefix}${kind.keyOf(item)}`, Buffer.from(JSON.stringify(item)), {
          contentType: 'application/json',
        }),
      ),
    )
  }
  const drainFrom = (place: Objects): Promise<void> =>
    eachApart(context, kind.name, place.list(kind.prefix), async (key) => {
      const object = await place.get(key)
      if (object === null) return
      const text = Buffer.from(object.bytes).toString('utf8')
      const item = itemIn(kind, text)
      await (item === null ? setAside(text) : store([item]).catch(throwUnlessRefused))
      await place.delete(key)
    })
  const drain = async (): Promise<void> => {
    if (disk !== undefined) await drainFrom(await disk)
    await drainFrom(objects)
  }
  return {
    async keep(items) {
      try {
        return await storeInTime(items)
      } catch (error) {
        if (error instanceof Refusal) throw error
        log.warn('items go to the spool, because the database does not accept them', {
          queue: kind.name,
          count: items.length,
          ...errorFields(error),
        })
      }
      try {
        await inTime(putInto(objects, items))
        return null
      } catch (error) {
        log.warn('the spool does not accept items', { queue: kind.name, ...errorFields(error) })
      }
      try {
        if (disk !== undefined) {
          await inTime(disk.then((place) => putInto(place, items)))
          return null
        }
      } catch (error) {
        log.error('the disk does not accept items', { queue: kind.name, ...errorFields(error) })
      }
      throw unavailable('This cannot be stored at the moment. Please send it again.')
    },
    put: (items) => putInto(objects, items),
    drain,
    draining: repeated(log, `the spool could not be drained: ${kind.name}`, DRAIN_EVERY_MS, drain),
  }
}

const inTime = <T>(work: Promise<T>): Promise<T> =>
  within(
    work,
    STORE_MS,
    rejectWith(() => new LoggableError(`not within ${STORE_MS} ms`)),
  )

/** A refused item would be refused again. */
function throwUnlessRefused(error: unknown): void {
  if (!(error instanceof Refusal)) throw error
}

function itemIn<T>(kind: SpoolKind<T>, text: string): T | null {
  try {
    return kind.read(JSON.parse(text))
  } catch {
    return null
  }
}

/** Deletes a person's spooled items up to a time (epoch milliseconds). */
export async function deleteSpooled(objects: Objects, userId: string, untilMs: number): Promise<void> {
  await deleteOfKind(objects, WEBHOOK_EVENTS, userId, untilMs)
  await deleteOfKind(objects, SOS_PRESSES, userId, untilMs)
}

async function deleteOfKind<T>(
  objects: Objects,
  kind: SpoolKind<T>,
  userId: string,
  untilMs: number,
): Promise<void> {
  for await (const key of objects.list(kind.prefix)) {
    // Delete damaged objects too: their owner is unknown, and they can never be stored.
    const bytes = await objects.get(key).then(
      (object) => object?.bytes ?? null,
      (error: unknown) => {
        if (!(error instanceof ObjectDamaged)) throw error
        return undefined
      },
    )
    const item = bytes == null ? null : itemIn(kind, Buffer.from(bytes).toString('utf8'))
    const owner = item && kind.ownerOf(item)
    const isTheirs = owner?.userId === userId && owner.atMs <= untilMs
    if (isTheirs || bytes === undefined) await objects.delete(key)
  }
}

/** Lists the people of an audience whom LINE does not reach, so that an operator can contact them in another way. */
import { eq, inArray, sql } from 'drizzle-orm'
import { UserId } from '#shared/contracts/fields.ts'
import {
  type Recipients,
  type LeftOutRecipient,
  LeftOutReason,
  type LeftOutRecipientsQuery,
} from '#shared/contracts/messages.ts'
import { notFound } from '#shared/runtime/refusal.ts'
import { readPage } from '#shared/service/http/pagination.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import type { Operator } from '#shared/service/security/admin-auth.ts'
import { messages, pushSubscriptions, pilgrims } from '#shared/stores/schema/tables.ts'
import { type LeftOut, selectLeftOut, readPendingOfRecipients } from './audience.ts'
import { checkKnown, recipientsOf } from './push.ts'

/** People who could be reached again come first. */
const ORDER: readonly LeftOutReason[] = ['unreachable', 'withdrawn', 'no_line_id']

/** Compares reasons first, then ids by their place in a list. */
const compare = (a: Placed, b: Placed): number =>
  ORDER.indexOf(a.reason) - ORDER.indexOf(b.reason) || (a.place < b.place ? -1 : a.place > b.place ? 1 : 0)

interface Placed {
  readonly reason: LeftOutReason
  readonly place: string
}

/**
 * A page of the people of an audience whom LINE does not reach at the moment.
 * @throws Refusal 404 for an unknown message; 503 when the buffer, which determines who is inactive, is unavailable
 */
export async function listLeftOut(
  context: ServiceContext,
  query: LeftOutRecipientsQuery,
  operator: Operator | null,
) {
  const { db, now } = context
  const ids = context.pseudonyms.orderFor(operator)
  const wanted = await audienceOf(context, query)
  const { items, next_cursor } = await readPage(
    `left-out:${query.message ?? `${wanted.audience ?? ''} ${wanted.hours ?? ''}`}`,
    [LeftOutReason, UserId],
    query,
    async (after, limit) => {
      const buffer = await readPendingOfRecipients(context.kv)
      const { people } = checkKnown(wanted, await db.read(() => selectLeftOut(db, wanted, now(), buffer)))
      const last = after && { reason: after[0], place: ids.of(after[1]) }
      return people
        .map((person) => ({ ...person, place: ids.of(person.userId) }))
        .filter((person) => last === null || compare(person, last) > 0)
        .sort(compare)
        .slice(0, limit)
    },
    (person) => person,
    ({ reason, userId }) => [reason, userId],
  )
  return { items: await withNames(context, items), next_cursor }
}

async function audienceOf({ db }: ServiceContext, query: LeftOutRecipientsQuery): Promise<Recipients> {
  const { message: id } = query
  if (id === undefined) return recipientsOf(query)
  const [message] = await db.read(() =>
    db.orm.select({ audience: messages.audience }).from(messages).where(eq(messages.id, id)),
  )
  if (message === undefined) throw notFound('There is no message with this id.')
  return message.audience
}

async function withNames({ db }: ServiceContext, people: readonly LeftOut[]): Promise<LeftOutRecipient[]> {
  const ids = people.map(({ userId }) => userId)
  if (ids.length === 0) return []
  const [named, subscribed] = await db.read(() =>
    Promise.all([
      db.orm
        .select({ userId: pilgrims.userId, name: pilgrims.displayName })
        .from(pilgrims)
        .where(inArray(pilgrims.userId, ids)),
      db.orm
        .select({ userId: pushSubscriptions.userId, devices: sql<number>`count(*)::int` })
        .from(pushSubscriptions)
        .where(inArray(pushSubscriptions.userId, ids))
        .groupBy(pushSubscriptions.userId),
    ]),
  )
  const names = new Map(named.map(({ userId, name }) => [userId, name]))
  const devices = new Map(subscribed.map((row) => [row.userId, row.devices]))
  return people.map(({ userId, reason, withdrawn }) => ({
    userId,
    display_name: names.get(userId) ?? null,
    reason,
    devices: withdrawn ? 0 : (devices.get(userId) ?? 0),
  }))
}

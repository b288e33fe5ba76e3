/** Reading and setting the activity's status. */
import { and, desc, eq, inArray } from 'drizzle-orm'
import {
  ACTIVITY_ID,
  messagesOf,
  readStatus,
  readEndProgress,
  recordEnd,
} from '#shared/pilgrims/activity-status.ts'
import { publishStatus } from '#shared/pilgrims/kv-copies.ts'
import { type Acting, audit } from '#shared/service/security/audit-log.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { type Event, SUBSCRIBERS } from '#shared/contracts/events.ts'
import type { Language } from '#shared/contracts/bot.ts'
import { ActivityStatus, time } from '#shared/contracts/fields.ts'
import type {
  Activity,
  Ending,
  EndPreview,
  SetStatusRequest,
  StatusMessages,
} from '#shared/contracts/operations.ts'
import { nameIn } from '#shared/core/rules/languages.ts'
import { conflict, expectSeen, unavailable } from '#shared/runtime/refusal.ts'
import { isKvUnavailable } from '#shared/stores/kv/kv.ts'
import type { Tx } from '#shared/stores/db/db.ts'
import { activity, handled, outbox as events } from '#shared/stores/schema/tables.ts'
import { readLedger } from '#shared/points/ledger/ledger.ts'
import { countCards } from '#shared/pilgrims/cards-at-end.ts'

type Row = typeof activity.$inferSelect

const shown = (row: Row, ending: Ending | null): Activity => ({
  status: ActivityStatus.parse(row.status),
  message: row.message,
  messages: messagesOf(row),
  changed_at: time(row.changedAt),
  changed_by: row.changedBy,
  ending,
})

export async function readActivity({ db }: ServiceContext): Promise<Activity> {
  const [row] = await db.read(() => db.orm.select().from(activity).where(eq(activity.id, ACTIVITY_ID)))
  return shown(row!, row!.status === 'ended' ? await db.read(() => readEndProgress(db)) : null)
}

/**
 * Pauses or resumes. Resolves when every partition of the kv has the new status. A repeated status changes only the
 * message, if one is given. An empty message deletes it. A call that changes nothing in effect does not need the kv.
 * @throws Refusal 409 after the end; 503 when the change is stored but not yet in every partition of the kv
 */
export async function setStatus(
  context: ServiceContext,
  operator: Acting,
  { status, seen = {}, ...given }: SetStatusRequest,
): Promise<Activity> {
  const { db, event: settings, outbox } = context
  const next = givenText(given, settings.current.language)
  const nowMs = context.now()
  const { row, event, inEffect } = await db.transaction(async (tx) => {
    const current = await lockActivity(tx)
    if (current.status === 'ended') throw conflict('The event has ended. An ended event cannot be reopened.')
    const somebody = `${current.changedBy ?? 'Somebody'} has`
    expectSeen(
      seen.status,
      ActivityStatus.parse(current.status),
      status,
      `${somebody} set the event to ${current.status}`,
    )
    if (next !== undefined) {
      const sentence = 'Somebody has changed the message'
      expectSeen(seen.message, current.message, next.message, sentence)
      if (seen.messages !== undefined)
        expectSeen(textOf(seen.messages), textOf(messagesOf(current)), textOf(next.messages), sentence)
    }
    if (current.status === status) {
      const row = await changeText(tx, current, next)
      const { ending: _, ...details } = shown(row, null)
      if (row !== current) await audit(tx, operator, 'set-status-message', details, nowMs)
      return { row, event: null, inEffect: row === current && (await isSpread(tx)) }
    }
    const changed = await change(tx, current, {
      status,
      ...(next ?? NO_TEXT),
      changedAt: new Date(nowMs),
      changedBy: operator.name,
    })
    const { message, messages } = changed
    await audit(tx, operator, 'set-status', { status, message, messages }, nowMs)
    const subject = status === 'paused' ? 'event.admin.status.paused' : 'event.admin.status.resumed'
    const event: Event = await outbox.add(tx, subject, { ...announced(changed), status })
    return { row: changed, event, inEffect: false }
  })
  const sentence = 'The new status is stored but not yet in effect everywhere. The service keeps retrying.'
  await spread(context, event, inEffect ? null : sentence)
  return shown(row, null)
}

/** @param late message of the 503 when the status has not reached every partition of the kv; null: no error */
async function spread(
  { db, kv, outbox }: ServiceContext,
  event: Event | null,
  late: string | null,
): Promise<void> {
  try {
    await publishStatus(db, kv)
  } catch (error) {
    if (!isKvUnavailable(error)) throw error
    if (late !== null) throw unavailable(late)
  } finally {
    if (event !== null) void outbox.ring(event)
  }
}

/** Whether the latest change of the status has reached every partition of the kv. */
async function isSpread(tx: Tx): Promise<boolean> {
  const subscriber = 'admin.spread-status'
  const [latest] = await tx.orm
    .select({ handledBy: handled.subscriber })
    .from(events)
    .leftJoin(handled, and(eq(handled.eventId, events.id), eq(handled.subscriber, subscriber)))
    .where(inArray(events.subject, [...SUBSCRIBERS[subscriber]]))
    .orderBy(desc(events.id))
    .limit(1)
  return latest === undefined || latest.handledBy !== null
}

async function lockActivity(tx: Tx): Promise<Row> {
  const [current] = await tx.orm.select().from(activity).where(eq(activity.id, ACTIVITY_ID)).for('update')
  return current!
}

/** The new state in a domain event. */
const announced = ({ version, message, messages, changedAt }: Row) => ({
  version,
  message,
  messages,
  changed_at: time(changedAt),
})

/** Updates the activity and raises its version, so that every cached copy is replaced. */
async function change(tx: Tx, current: Row, fields: Partial<Row>): Promise<Row> {
  const [changed] = await tx.orm
    .update(activity)
    .set({ ...fields, version: current.version + 1 })
    .where(eq(activity.id, ACTIVITY_ID))
    .returning()
  return changed!
}

function changeText(tx: Tx, current: Row, next: Text | undefined): Promise<Row> | Row {
  const isSame =
    next === undefined ||
    (next.message === current.message && textOf(next.messages) === textOf(messagesOf(current)))
  return isSame ? current : change(tx, current, next)
}

type Text = Pick<Activity, 'message'> & { readonly messages: StatusMessages | null }
const NO_TEXT: Text = { message: null, messages: null }

/** @returns undefined if the request has no message; a blank text deletes the message */
function givenText(
  { message, messages }: Pick<SetStatusRequest, 'message' | 'messages'>,
  language: Language,
): Text | undefined {
  if (message == null && messages == null) return undefined
  const texts = Object.entries(messages ?? {})
    .map(([of, text]) => [of, text.trim()] as const)
    .filter(([, text]) => text !== '')
  if (texts.length === 0) return { message: message?.trim() || null, messages: null }
  const written: StatusMessages = Object.fromEntries(texts)
  return { message: nameIn(written, language, language), messages: written }
}

/** Canonical order of the languages for the comparison: the database uses its own. */
const textOf = (messages: StatusMessages | null): string =>
  JSON.stringify(Object.entries(messages ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1)))

// Ends the event in one transaction, which writes a domain event. Its subscribers do everything else, so that it
// continues after any restart.

/** Maximum wait of the answer for the final flush. `GET admin/status` shows the progress. */
const FLUSH_WAIT_MS = 20_000
const POLL_MS = 100

/**
 * Ends an active or paused event. A repeated call changes nothing and returns the state of the first.
 * @throws Refusal 503 when the end is stored but not yet in every partition of the kv
 */
export async function endActivity(context: ServiceContext, operator: Acting): Promise<Activity> {
  const event = await end(context, operator)
  await spread(
    context,
    event,
    'The event has ended, but this is not yet in effect everywhere. The service keeps retrying.',
  )
  const until = performance.now() + (event === null ? 0 : FLUSH_WAIT_MS)
  for (;;) {
    const state = await readActivity(context)
    if (state.ending?.flush === 'done' || performance.now() >= until) return state
    await Bun.sleep(POLL_MS)
  }
}

/** @returns the domain event to announce; null when the activity had already ended */
async function end({ db, outbox, now }: ServiceContext, operator: Acting) {
  return db.transaction(async (tx) => {
    const current = await lockActivity(tx)
    if (current.status === 'ended') return null
    const changedAt = new Date(now())
    const fields = { status: 'ended', ...NO_TEXT, changedAt, changedBy: operator.name }
    const changed = await change(tx, current, fields)
    await recordEnd(tx, changedAt)
    await audit(tx, operator, 'end-activity', { from: current.status }, now())
    return outbox.add(tx, 'event.admin.activity.ended', { ...announced(changed), status: 'ended' })
  })
}

/** The effect of ending the event now. @throws Refusal 503 when the buffer cannot be read */
export async function previewEnd({ db, kv, now }: ServiceContext): Promise<EndPreview> {
  try {
    const [{ status }, ledger, pilgrims, cards] = await Promise.all([
      readStatus(db),
      readLedger(db, kv),
      kv.bufferSize(),
      countCards({ db }),
    ])
    return {
      status,
      points_waiting: ledger.pending,
      pilgrims_waiting: pilgrims,
      points_journaled: ledger.journaled,
      cards,
      as_of: time(now()),
    }
  } catch (error) {
    if (!isKvUnavailable(error)) throw error
    throw unavailable(
      'The buffer cannot be read, so it is not known what waits. Please try again in a moment.',
    )
  }
}

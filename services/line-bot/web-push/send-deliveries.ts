/**
 * Sends due deliveries. A replica claims them before it calls: each is due again only after the time that calls take,
 * so no two replicas send one, and a delivery claimed by a killed process is sent again. A device shows a repeated
 * message once, because it replaces the one with the same tag.
 */
import { and, eq, sql } from 'drizzle-orm'
import type { PushSettings } from '#shared/runtime/config/setting-values.ts'
import { cutText } from '#shared/contracts/fields.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { messages, type Notice, pushDeliveries, pushSubscriptions } from '#shared/stores/schema/tables.ts'
import { EXPIRED, isExpired } from '../sending/expiry.ts'
import {
  createSendingLoop,
  EMERGENCIES_FIRST,
  isDue,
  joinSenders,
  type Sender,
  waitOf,
} from '../sending/sending-loop.ts'
import { callPushService, type Delivery, type Device, WORTH_MS } from './push-service.ts'

/** Concurrent calls: to hosts that answer, and to the others. */
const AT_ONCE = { answering: 20, silent: 5 }
/** Longer than the calls of one round and their writes take. */
const CLAIM_MS = 30_000
/** A push service accepts 4,096 bytes. Encryption adds 103, and JSON the rest. */
const MAX_BODY_BYTES = 3_000

interface Claimed extends Record<string, unknown> {
  readonly id: number
  readonly message_id: string
  readonly cause_key: string
  readonly subscription_id: string
  readonly attempts: number
  readonly planned_ms: number
  readonly notice: Notice | null
  readonly withdrawn: boolean
  /** Null: the device was removed. */
  readonly endpoint: string | null
  readonly p256dh: string | null
  readonly auth: string | null
}

/**
 * Which deliveries a sender handles. URLs come from clients: hosts whose last call had no answer have a separate lane,
 * in any order, so that invented devices do not delay others for long.
 */
type Lane = keyof typeof AT_ONCE

/** @returns null while Web Push is off */
export function createPushSender(context: ServiceContext): Sender | null {
  const { push } = context.config
  if (push === null) return null
  // Hosts named in the settings are assumed to answer; for those behind a `*.` the first answer decides.
  const answering = new Set(push.services.filter((host) => !host.startsWith('*.')))
  const send = (lane: Lane) =>
    createSendingLoop(context, async (isOpen) => {
      while (isOpen() && (await sendDeliveries(context, push, lane, answering)));
    })
  return joinSenders(send('answering'), send('silent'))
}

/**
 * Sends the longest-overdue deliveries of a lane, those of emergencies first.
 * @param answering hosts that are assumed to answer; each call updates it
 * @returns false when none was due
 */
async function sendDeliveries(
  context: ServiceContext,
  settings: PushSettings,
  lane: Lane,
  answering: Set<string>,
): Promise<boolean> {
  const claimed = await claim(context, lane, answering)
  await Promise.all(claimed.map((delivery) => send(context, settings, delivery, answering)))
  return claimed.length > 0
}

async function claim(
  { db, now }: ServiceContext,
  lane: Lane,
  answering: ReadonlySet<string>,
): Promise<readonly Claimed[]> {
  const nowMs = now()
  const { id, messageId, subscriptionId, state, dueAt } = pushDeliveries
  const rows = await db.orm.execute<{ id: number }>(sql`
    UPDATE push_deliveries SET attempts = attempts + 1,
      due_at = ${new Date(nowMs + CLAIM_MS).toISOString()}::timestamptz
    WHERE id IN (
      SELECT ${id} FROM push_deliveries JOIN messages ON ${messages.id} = ${messageId}
      LEFT JOIN push_subscriptions s ON s.id = ${subscriptionId}
      WHERE ${state} = 'waiting' AND ${isDue(dueAt, nowMs)} AND ${lane === 'answering'} = coalesce(
        split_part(s.endpoint, '/', 3) IN (
          SELECT jsonb_array_elements_text(${JSON.stringify([...answering])}::text::jsonb)), true)
      ORDER BY ${EMERGENCIES_FIRST}, ${lane === 'answering' ? sql`${dueAt}, ${id}` : sql`random()`}
      LIMIT ${AT_ONCE[lane]} FOR UPDATE OF push_deliveries SKIP LOCKED)
    RETURNING id::float8 AS id`)
  if (rows.length === 0) return []
  const ids = JSON.stringify(rows.map(({ id }) => id))
  return db.orm.execute<Claimed>(sql`
    SELECT d.id::float8 AS id, d.message_id, d.subscription_id, d.attempts, m.notices->d.language AS notice, m.cause_key,
           epoch_ms(d.created_at) AS planned_ms,
           p.user_id IS NULL OR (p.participant_status = 'withdrawn' AND m.cause <> 'emergency') AS withdrawn,
           s.endpoint, s.p256dh, s.auth
    FROM push_deliveries d
    JOIN messages m ON m.id = d.message_id
    LEFT JOIN push_subscriptions s ON s.id = d.subscription_id AND s.user_id = d.user_id
    LEFT JOIN pilgrims p ON p.user_id = d.user_id
    WHERE d.id IN (SELECT value::bigint FROM jsonb_array_elements_text(${ids}::text::jsonb))`)
}

async function send(
  context: ServiceContext,
  settings: PushSettings,
  claimed: Claimed,
  answering: Set<string>,
): Promise<void> {
  const { metrics, now } = context
  const { endpoint, p256dh, auth, notice } = claimed
  const nowMs = now()
  const leftMs = claimed.planned_ms + WORTH_MS - nowMs
  if (endpoint === null || p256dh === null || auth === null)
    return settle(context, claimed, 'failed', 'the device was removed')
  if (claimed.withdrawn) return settle(context, claimed, 'failed', 'the pilgrim has withdrawn')
  // A confirmed emergency has lost its content.
  if (notice === null || (await isExpired(context, context.db, claimed.cause_key, claimed.planned_ms)))
    return settle(context, claimed, 'failed', EXPIRED)
  if (leftMs <= 0) return settle(context, claimed, 'failed', 'not delivered within a day')
  const device: Device = { endpoint, p256dh, auth }
  const delivery = await callPushService(
    settings,
    device,
    payloadOf(claimed.message_id, notice),
    leftMs,
    nowMs,
  )
  metrics.count('event_web_push_calls_total', { outcome: delivery.outcome })
  const { host } = new URL(endpoint)
  if (delivery.outcome === 'silent') answering.delete(host)
  else if (delivery.outcome !== 'refused') answering.add(host)
  await record(context, claimed, device, delivery)
}

async function record(
  context: ServiceContext,
  claimed: Claimed,
  { endpoint }: Device,
  delivery: Delivery,
): Promise<void> {
  const { db, log, now } = context
  switch (delivery.outcome) {
    case 'accepted':
      return settle(context, claimed, 'sent')
    case 'gone':
      // Keep a device that has subscribed again meanwhile.
      await db.orm
        .delete(pushSubscriptions)
        .where(
          and(eq(pushSubscriptions.id, claimed.subscription_id), eq(pushSubscriptions.endpoint, endpoint)),
        )
      return settle(context, claimed, 'failed', delivery.detail)
    case 'refused':
      log.warn('a push service refuses a message', {
        message_id: claimed.message_id,
        detail: delivery.detail,
      })
      return settle(context, claimed, 'failed', delivery.detail)
    case 'silent':
    case 'later': {
      const dueAt = new Date(now() + waitOf(claimed.attempts, delivery.waitMs))
      await db.orm
        .update(pushDeliveries)
        .set({ dueAt, detail: delivery.detail })
        .where(and(eq(pushDeliveries.id, claimed.id), eq(pushDeliveries.state, 'waiting')))
    }
  }
}

/** Records an outcome. A person erased meanwhile has no row any more. */
async function settle(
  { db, now }: ServiceContext,
  { id }: Claimed,
  state: 'sent' | 'failed',
  detail: string | null = null,
): Promise<void> {
  await db.orm
    .update(pushDeliveries)
    .set({ state, detail, settledAt: new Date(now()) })
    .where(and(eq(pushDeliveries.id, id), eq(pushDeliveries.state, 'waiting')))
}

/** The payload for the app's service worker. The tag is the message's, so that a device shows it once. */
const payloadOf = (messageId: string, { title, body }: Notice): string =>
  JSON.stringify({ title, body: cutBytes(body), tag: messageId })

function cutBytes(body: string): string {
  let cut = body
  while (Buffer.byteLength(JSON.stringify(cut)) > MAX_BODY_BYTES)
    cut = `${cutText(cut, Math.floor(cut.length * 0.9))}…`
  return cut
}

/** A pilgrim's devices for Web Push: add, list, remove. */
import { createECDH } from 'node:crypto'
import { and, asc, eq, inArray, ne } from 'drizzle-orm'
import type { PushSettings } from '#shared/runtime/config/setting-values.ts'
import {
  MAX_PUSH_SUBSCRIPTIONS,
  type PushDevice,
  type PushDeviceList,
  type PushSubscriptionRequest,
} from '#shared/contracts/push-subscriptions.ts'
import { conflict, invalid, notFound } from '#shared/runtime/refusal.ts'
import type { Tx } from '#shared/stores/db/db.ts'
import { ensurePilgrim, lockPilgrim } from '#shared/pilgrims/person-lock.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { pushSubscriptions } from '#shared/stores/schema/tables.ts'
import { chargeQuota, isClaim } from '#shared/service/security/claims.ts'
import { timeOfDevice } from '#shared/service/security/pilgrim-identity.ts'
import { isAllowedService } from './push-service.ts'

type Row = typeof pushSubscriptions.$inferSelect

/**
 * Adds a device. Adding it again keeps its subscription id and updates the keys. A device of another pilgrim changes
 * its owner, because a browser has one subscription.
 * @throws Refusal 400 for a URL of an unknown push service, or an invalid key; 409 while Web Push is off, when the
 *   pilgrim was erased since the request came, or when a claim would replace a device; 429 for an address that has
 *   added enough to a claim
 */
export async function subscribe(
  context: ServiceContext,
  { user_id: userId, endpoint, keys }: PushSubscriptionRequest,
  address: string,
): Promise<PushDevice> {
  const { config, db, now } = context
  const nowMs = now()
  if (config.push === null) throw conflict('This event sends no messages by Web Push.')
  checkDevice(config.push, endpoint, keys.p256dh)
  const row = await db.transaction(async (tx) => {
    await ensurePilgrim(tx, userId, nowMs)
    await lockPilgrim(tx, userId)
    const same = and(eq(pushSubscriptions.endpoint, endpoint), eq(pushSubscriptions.userId, userId))
    const isNew = (await tx.orm.$count(pushSubscriptions, same)) === 0
    // Another pilgrim's deliveries refer to the old id.
    await tx.orm
      .delete(pushSubscriptions)
      .where(and(eq(pushSubscriptions.endpoint, endpoint), ne(pushSubscriptions.userId, userId)))
    const [stored] = await tx.orm
      .insert(pushSubscriptions)
      .values({ id: crypto.randomUUID(), userId, endpoint, ...keys, createdAt: new Date(nowMs) })
      .onConflictDoUpdate({ target: pushSubscriptions.endpoint, set: { userId, ...keys } })
      .returning()
    await removeOldest(tx, config, stored!)
    // Last: a request that fails costs nothing.
    if (isNew) await chargeQuota(context, 'devices', userId, address)
    return stored!
  })
  return shown(config, row)
}

function checkDevice({ services }: PushSettings, endpoint: string, p256dh: string): void {
  if (!isAllowedService(services, endpoint))
    throw invalid('endpoint: is not an address of a push service that this event sends to')
  const own = createECDH('prime256v1')
  own.generateKeys()
  try {
    own.computeSecret(p256dh, 'base64url')
  } catch {
    throw invalid('keys.p256dh: is no point of the curve P-256')
  }
}

/** Removes the oldest devices beyond the limit, never the one of this request. @throws Refusal 409 for a claim */
async function removeOldest(tx: Tx, config: ServiceContext['config'], { id, userId }: Row): Promise<void> {
  const others = await tx.orm
    .select({ id: pushSubscriptions.id })
    .from(pushSubscriptions)
    .where(and(eq(pushSubscriptions.userId, userId), ne(pushSubscriptions.id, id)))
    .orderBy(asc(pushSubscriptions.createdAt), asc(pushSubscriptions.id))
  const surplus = others.slice(0, Math.max(0, others.length + 1 - MAX_PUSH_SUBSCRIPTIONS))
  if (surplus.length === 0) return
  if (isClaim(config, userId))
    throw conflict(`There are ${MAX_PUSH_SUBSCRIPTIONS} devices of this id already.`)
  await tx.orm.delete(pushSubscriptions).where(
    inArray(
      pushSubscriptions.id,
      surplus.map((device) => device.id),
    ),
  )
}

export async function listSubscriptions(
  { config, db }: ServiceContext,
  userId: string,
): Promise<PushDeviceList> {
  const rows = await db.read(() =>
    db.orm
      .select()
      .from(pushSubscriptions)
      .where(eq(pushSubscriptions.userId, userId))
      .orderBy(asc(pushSubscriptions.createdAt), asc(pushSubscriptions.id)),
  )
  return { items: rows.map((row) => shown(config, row)) }
}

/** @throws Refusal 404 when the pilgrim has no such device */
export async function unsubscribe(
  { db }: ServiceContext,
  userId: string,
  id: string,
): Promise<{ id: string }> {
  const deleted = await db.orm
    .delete(pushSubscriptions)
    .where(and(eq(pushSubscriptions.id, id), eq(pushSubscriptions.userId, userId)))
    .returning({ id: pushSubscriptions.id })
  if (deleted.length === 0) throw notFound('There is no such device; it may have been removed already.')
  return { id }
}

const shown = (config: ServiceContext['config'], { id, endpoint, createdAt }: Row): PushDevice => ({
  id,
  push_service: new URL(endpoint).hostname,
  created_at: timeOfDevice(config, createdAt.getTime()),
})

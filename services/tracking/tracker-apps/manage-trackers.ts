/** A pilgrim's trackers: create, list, revoke. */
import { randomBytes } from 'node:crypto'
import { asc, eq } from 'drizzle-orm'
import {
  MAX_TRACKERS,
  type NewTracker,
  type Tracker,
  type TrackerList,
  type TrackerRequest,
} from '#shared/contracts/trackers.ts'
import { isKvUnavailable } from '#shared/stores/kv/kv.ts'
import { conflict, notFound } from '#shared/runtime/refusal.ts'
import { ensurePilgrim, lockPilgrim } from '#shared/pilgrims/person-lock.ts'
import { endTrackers, readKnownKey, trackerKeyHash } from '#shared/pilgrims/tracker-keys.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { timeOfDevice } from '#shared/service/security/pilgrim-identity.ts'
import { charge } from '#shared/service/security/caller-and-address-limits.ts'
import { chargeQuota } from '#shared/service/security/claims.ts'
import { trackers } from '#shared/stores/schema/tables.ts'
import { appsOf } from './set-up-links.ts'

const KEY_BYTES = 24

/**
 * Creates a tracker. Only this answer contains its key.
 * @param address whose limit the QR codes are charged to
 * @throws Refusal 409 when the pilgrim has too many, 410 when they were erased; 429 for an address over its limit, or
 *   one that has created enough for a claim
 */
export async function createTracker(
  context: ServiceContext,
  { user_id: userId, label }: TrackerRequest,
  address: string,
): Promise<NewTracker> {
  const { db, kv, config, now } = context
  const nowMs = now()
  // Five QR codes take 10 ms, and anyone can invent a pilgrim for each request.
  await charge(kv, 'drawing', address, config.limits.drawing)
  const id = crypto.randomUUID()
  const key = randomBytes(KEY_BYTES).toString('base64url')
  await db.transaction(async (tx) => {
    await ensurePilgrim(tx, userId, nowMs)
    await lockPilgrim(tx, userId)
    if ((await tx.orm.$count(trackers, eq(trackers.userId, userId))) >= MAX_TRACKERS)
      throw conflict(`You have ${MAX_TRACKERS} trackers already: revoke one that you do not use any more.`)
    await tx.orm.insert(trackers).values({
      id,
      userId,
      keyHash: trackerKeyHash(key),
      label: label || null,
      createdAt: new Date(nowMs),
    })
    // Last: a tracker that is not stored must not use up the quota.
    await chargeQuota(context, 'trackers', userId, address)
  })
  return {
    id,
    label: label || null,
    created_at: timeOfDevice(config, nowMs),
    last_used_at: null,
    key,
    apps: appsOf(config.publicUrl, id, key),
  }
}

/** Lists the trackers of a pilgrim, oldest first. */
export async function listTrackers({ config, db, kv }: ServiceContext, userId: string): Promise<TrackerList> {
  const rows = await db.read(() =>
    db.orm
      .select()
      .from(trackers)
      .where(eq(trackers.userId, userId))
      .orderBy(asc(trackers.createdAt), asc(trackers.id)),
  )
  return {
    items: await Promise.all(
      rows.map(async ({ id, label, createdAt, keyHash }) => ({
        id,
        label,
        created_at: timeOfDevice(config, createdAt.getTime()),
        ...(await lastUse({ config, kv }, keyHash)),
      })),
    ),
  }
}

async function lastUse(
  { config, kv }: Pick<ServiceContext, 'config' | 'kv'>,
  keyHash: string,
): Promise<Pick<Tracker, 'last_used_at' | 'refused'>> {
  try {
    const knownKey = await readKnownKey(kv, keyHash)
    const { usedMs, refused } = knownKey === null || knownKey === 'revoked' ? {} : knownKey
    return {
      last_used_at: usedMs === undefined ? null : timeOfDevice(config, usedMs),
      ...(refused && { refused: { reason: refused.reason, at: timeOfDevice(config, refused.atMs) } }),
    }
  } catch (error) {
    if (!isKvUnavailable(error)) throw error
    return {}
  }
}

/**
 * Revokes a tracker. When it resolves, no replica accepts the key.
 * @throws Refusal 404 when the pilgrim has no such tracker; KvUnavailable, and then nothing is revoked
 */
export async function revokeTracker(
  { db, kv }: ServiceContext,
  userId: string,
  id: string,
): Promise<{ id: string }> {
  await db.transaction(async (tx) => {
    if ((await endTrackers(tx, kv, userId, id)) === 0)
      throw notFound('There is no such tracker; it may have been revoked already.')
  })
  return { id }
}

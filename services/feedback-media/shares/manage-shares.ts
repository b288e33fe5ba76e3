/** A pilgrim's links: create, list, change and revoke. */
import { and, count, desc, eq, gt, isNull, lte } from 'drizzle-orm'
import type { ServiceContext } from '#shared/service/context.ts'
import type { Tx } from '#shared/stores/db/db.ts'
import { time, timeOrNull } from '#shared/contracts/fields.ts'
import {
  type ChangeShareRequest,
  type CreateShareRequest,
  MAX_SHARES,
  type Share,
} from '#shared/contracts/shares.ts'
import { conflict, notFound } from '#shared/runtime/refusal.ts'
import { ensurePilgrim, lockPilgrim, lockPersonUnlessErased } from '#shared/pilgrims/person-lock.ts'
import {
  maySharePilgrim,
  newShareId,
  SHARE_TTL_MS,
  type ShareRow,
  shareUrl,
} from '#shared/pilgrims/shares.ts'
import { isClaim } from '#shared/service/security/claims.ts'
import { shares } from '#shared/stores/schema/tables.ts'

type Context = Pick<ServiceContext, 'config' | 'db' | 'now'>
const HOUR_MS = 3_600_000

const shown = ({ config }: Context, row: ShareRow): Share => {
  const url = shareUrl(config.publicUrl, row.id)
  return {
    id: row.id,
    url,
    image_url: `${url}.png`,
    live_until: timeOrNull(row.liveUntil),
    show_name: row.showName,
    created_at: time(row.createdAt),
    expires_at: time(row.expiresAt),
    views: row.views,
    last_viewed_at: timeOrNull(row.lastViewedAt),
  }
}

const unknown = () => notFound('There is no such link of this pilgrim. It may be revoked or expired.')

interface Live {
  readonly liveUntil: Date | null
  readonly liveSince: Date | null
}

/** @param before the existing link; null: a new one. While it shows the position, it continues the same line */
function liveFor(hours: number | null | undefined, nowMs: number, before: ShareRow | null): Live {
  if (hours == null) return { liveUntil: null, liveSince: null }
  const isLive = before?.liveUntil != null && before.liveUntil.getTime() > nowMs
  return {
    liveUntil: new Date(nowMs + hours * HOUR_MS),
    liveSince: isLive ? before.liveSince : new Date(nowMs),
  }
}

/**
 * Locks the pilgrim's row, so that a withdrawal comes before or after this write.
 * @throws Refusal 409 for a pilgrim who has withdrawn, 410 for an erased one
 */
async function lockSharing(tx: Tx, userId: string): Promise<void> {
  const row = await lockPilgrim(tx, userId)
  if (row !== undefined && !maySharePilgrim(row))
    throw conflict(
      row.consentWithdrawn
        ? 'You have withdrawn your consent, so nothing is shared. Consent again to share a link.'
        : 'You have withdrawn from the event, so nothing is shared. Set your status to active to share a link.',
    )
}

/**
 * A claim gets the existing link, so that no stranger fills the pilgrim's quota, and nothing of its views or of the place.
 * @throws Refusal 409 after a withdrawal, for a pilgrim with too many links, and for the id of another pilgrim's link
 */
export async function createShare(context: Context, request: CreateShareRequest): Promise<Share> {
  const { user_id: userId, live_hours: hours, show_name: showName } = request
  const id = request.id ?? newShareId()
  const nowMs = context.now()
  const row = await context.db.transaction(async (tx) => {
    await ensurePilgrim(tx, userId, nowMs)
    await lockSharing(tx, userId)
    const ownShares = and(eq(shares.userId, userId), eq(shares.madeBy, 'pilgrim'))
    await tx.orm.delete(shares).where(and(ownShares, lte(shares.expiresAt, new Date(nowMs))))
    if (isClaim(context.config, userId)) {
      const alike = and(ownShares, eq(shares.showName, showName), isNull(shares.liveUntil))
      const [link] = await tx.orm
        .select()
        .from(shares)
        .where(alike)
        .orderBy(shares.createdAt, shares.id)
        .limit(1)
      if (link !== undefined) return link
    }
    const [same] = await tx.orm.select().from(shares).where(eq(shares.id, id))
    if (same?.userId === userId) return same
    if (same !== undefined) throw conflict('There is another link with this id.')
    const [existing] = await tx.orm.select({ n: count() }).from(shares).where(ownShares)
    if (existing!.n >= MAX_SHARES)
      throw conflict(`There are ${MAX_SHARES} links already. Revoke one that is not needed any more.`)
    const [made] = await tx.orm
      .insert(shares)
      .values({
        id,
        userId,
        madeBy: 'pilgrim',
        showName,
        ...liveFor(hours, nowMs, null),
        createdAt: new Date(nowMs),
        expiresAt: new Date(nowMs + SHARE_TTL_MS),
      })
      .returning()
    return made!
  })
  const hidden = { views: 0, lastViewedAt: null, liveUntil: null }
  return shown(context, isClaim(context.config, userId) ? { ...row, ...hidden } : row)
}

/** The valid links, newest first. */
export async function listShares(context: Context, userId: string): Promise<{ items: Share[] }> {
  const { db, now } = context
  const working = and(eq(shares.userId, userId), gt(shares.expiresAt, new Date(now())))
  const rows = await db.read(() =>
    db.orm.select().from(shares).where(working).orderBy(desc(shares.createdAt), shares.id),
  )
  return { items: rows.map((row) => shown(context, row)) }
}

/** @throws Refusal 404 for a link of another pilgrim, 409 after a withdrawal */
export async function changeShare(context: Context, id: string, request: ChangeShareRequest): Promise<Share> {
  const { user_id: userId, live_hours: hours, show_name: showName } = request
  const nowMs = context.now()
  const row = await context.db.transaction(async (tx) => {
    await lockPersonUnlessErased(tx, userId, nowMs)
    await lockSharing(tx, userId)
    const isShare = and(eq(shares.id, id), eq(shares.userId, userId), gt(shares.expiresAt, new Date(nowMs)))
    // Unchanged until the end of the transaction, because every change holds the lock of the pilgrim's row.
    const [existing] = await tx.orm.select().from(shares).where(isShare)
    if (existing === undefined) throw unknown()
    const changes = {
      ...(hours === undefined ? {} : liveFor(hours, nowMs, existing)),
      ...(showName == null ? {} : { showName }),
    }
    if (Object.keys(changes).length === 0) return existing
    const [changed] = await tx.orm.update(shares).set(changes).where(isShare).returning()
    // A revocation does not take that lock.
    if (changed === undefined) throw unknown()
    return changed
  })
  return shown(context, row)
}

/** @throws Refusal 404 for a link of another pilgrim */
export async function revokeShare(
  { db }: Context,
  id: string,
  userId: string,
): Promise<{ id: string; revoked: true }> {
  const isShare = and(eq(shares.id, id), eq(shares.userId, userId))
  const deleted = await db.orm.delete(shares).where(isShare).returning({ id: shares.id })
  if (deleted.length === 0) throw unknown()
  return { id, revoked: true }
}

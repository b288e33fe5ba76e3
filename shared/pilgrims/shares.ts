/** Rows of share links. Several services write them; each ends by deleting its row. */
import { randomBytes } from 'node:crypto'
import { and, eq, gt, sql } from 'drizzle-orm'
import type { Tx } from '#shared/stores/db/db.ts'
import { pilgrims, shares } from '#shared/stores/schema/tables.ts'

export type ShareRow = typeof shares.$inferSelect

const DAY_MS = 86_400_000
/** A posted card is viewed for some months. */
export const SHARE_TTL_MS = 180 * DAY_MS
/** The bot's link is renewed when less than this remains. */
const RENEW_MS = 90 * DAY_MS

/** 144 random bits as 24 characters. */
export const newShareId = (): string => randomBytes(18).toString('base64url')

/** Page of a share link. */
export const shareUrl = (publicUrl: string, id: string): string => `${publicUrl}/s/${id}`

/** Whether a pilgrim's links work: not after they have withdrawn from the event or withdrawn their consent. */
export const maySharePilgrim = (row: {
  readonly participantStatus: string
  readonly consentWithdrawn: boolean
}): boolean => row.participantStatus !== 'withdrawn' && !row.consentWithdrawn

/** Ends all links of a pilgrim. Part of the transaction that withdraws them. */
export async function endShares(tx: Tx, userId: string): Promise<void> {
  await tx.orm.delete(shares).where(eq(shares.userId, userId))
}

/**
 * Returns the id of the link that the bot's answers use, and creates it if needed. The caller has locked out an erasure
 * (`mayWrite`).
 * @returns null for a pilgrim who is unknown or has withdrawn
 */
export async function bringBotShare(tx: Tx, userId: string, nowMs: number): Promise<string | null> {
  // The row's lock orders this before or after a withdrawal, which ends the links.
  const [pilgrim] = await tx.orm.select().from(pilgrims).where(eq(pilgrims.userId, userId)).for('share')
  if (pilgrim === undefined || !maySharePilgrim(pilgrim)) return null
  const isOfBot = and(eq(shares.userId, userId), eq(shares.madeBy, 'bot'))
  const [share] = await tx.orm
    .select()
    .from(shares)
    .where(and(isOfBot, gt(shares.expiresAt, new Date(nowMs + RENEW_MS))))
  if (share !== undefined) return share.id
  const [row] = await tx.orm
    .insert(shares)
    .values({
      id: newShareId(),
      userId,
      madeBy: 'bot',
      showName: true,
      liveUntil: null,
      liveSince: null,
      createdAt: new Date(nowMs),
      expiresAt: new Date(nowMs + SHARE_TTL_MS),
    })
    .onConflictDoUpdate({
      target: shares.userId,
      targetWhere: sql`${shares.madeBy} = 'bot'`,
      set: { expiresAt: new Date(nowMs + SHARE_TTL_MS) },
    })
    .returning({ id: shares.id })
  return row!.id
}

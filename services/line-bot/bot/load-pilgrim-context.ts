/** The context of an answer: the pilgrim's language from LINE, and the same figures as in their profile. */
import { eq, sql } from 'drizzle-orm'
import type { ServiceContext } from '#shared/service/context.ts'
import { HttpsUrl, withoutDirections } from '#shared/contracts/fields.ts'
import { readPilgrimsDegraded } from '#shared/points/totals/pilgrim-statistics.ts'
import type { Line, Profile } from '#shared/service/line/line-client.ts'
import { mayWrite } from '#shared/pilgrims/person-lock.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { consumptionMg, savedMg, transportSums } from '#shared/core/rules/carbon.ts'
import { levelOf, nextLevel } from '#shared/core/rules/levels.ts'
import { roundKg, roundKm } from '#shared/core/rules/rounding.ts'
import { zeroTotals } from '#shared/core/distance/points-to-distance.ts'
import { followers, pilgrims } from '#shared/stores/schema/tables.ts'
import type { Figures } from './replies.ts'
import { linkMenu } from './rich-menu.ts'
import { bringBotShare, shareUrl } from '#shared/pilgrims/shares.ts'

export type Pilgrim = typeof pilgrims.$inferSelect

/** Reads the pilgrim, and fetches a missing profile from LINE. @returns null for an unknown user id */
export async function readPilgrim(
  context: ServiceContext,
  line: Line | null,
  userId: string,
  refresh: boolean,
): Promise<Pilgrim | null> {
  const { db, log } = context
  const [row] = await db.read(() =>
    db.orm
      .select({ pilgrim: pilgrims, fetchedAt: followers.profileFetchedAt })
      .from(pilgrims)
      .leftJoin(followers, eq(followers.userId, pilgrims.userId))
      .where(eq(pilgrims.userId, userId)),
  )
  if (row === undefined) return null
  if (line === null || (row.fetchedAt !== null && !refresh)) return row.pilgrim
  const requestedMs = context.now()
  let profile: Profile
  try {
    profile = await line.profile(userId)
  } catch (error) {
    // The next event retries; the stored profile stays.
    log.warn('a profile could not be read from LINE', errorFields(error))
    return row.pilgrim
  }
  const known = await storeProfile(context, row.pilgrim, profile, requestedMs)
  await linkMenu(context, line, userId, row.pilgrim.language, known.language)
  return known
}

async function storeProfile(
  { db, now }: ServiceContext,
  stored: Pilgrim,
  profile: Profile,
  requestedMs: number,
): Promise<Pilgrim> {
  const at = new Date(now())
  const clean = (text: string | null, max: number) =>
    withoutDirections(text ?? '')
      .toWellFormed()
      .replaceAll('\u0000', '')
      .trim()
      .slice(0, max)
      .toWellFormed() || null
  return db.transaction(async (tx) => {
    if (!(await mayWrite(tx, stored.userId, requestedMs))) return stored
    await tx.orm.update(followers).set({ profileFetchedAt: at }).where(eq(followers.userId, stored.userId))
    const [row] = await tx.orm
      .update(pilgrims)
      .set({
        // A name that the pilgrim has typed takes precedence over LINE's, also one typed since `stored` was read.
        displayName: sql`coalesce(${pilgrims.displayName}, ${clean(profile.displayName, 200)}::text)`,
        pictureUrl: HttpsUrl.safeParse(profile.pictureUrl).data ?? stored.pictureUrl,
        language: sql`coalesce(${pilgrims.language}, ${clean(profile.language, 35)}::text)`,
        updatedAt: at,
      })
      .where(eq(pilgrims.userId, stored.userId))
      .returning()
    return row ?? stored
  })
}

/** Reads the pilgrim's figures, pending points included. Without the buffer the figures are marked `incomplete`. */
export async function readFigures(context: ServiceContext, pilgrim: Pilgrim): Promise<Figures> {
  const known = (await readPilgrimsDegraded(context, [pilgrim.userId])).get(pilgrim.userId)
  const { checkins, distanceMm, carbonMg: mg } = known?.statistics ?? zeroTotals()
  const reported = transportSums(pilgrim.transport)
  return {
    level: levelOf(distanceMm, checkins),
    km: roundKm(distanceMm),
    checkins,
    next: nextLevel(distanceMm, checkins),
    carbonKg: roundKg(mg + reported.carbonMg + consumptionMg(pilgrim.consumption)),
    savedKg: roundKg(savedMg(distanceMm + reported.distanceMm, mg + reported.carbonMg)),
    incomplete: known?.pending === null || known === null,
  }
}

/**
 * The pilgrim's share link, which contains no user id; created at the first call.
 * @param askedMs when the pilgrim was read, epoch milliseconds
 * @returns null for a pilgrim who has withdrawn, or was erased
 */
export async function linkOfPilgrim(
  { config, db, now }: Pick<ServiceContext, 'config' | 'db' | 'now'>,
  userId: string,
  askedMs: number,
): Promise<string | null> {
  const id = await db.transaction(async (tx) =>
    (await mayWrite(tx, userId, askedMs)) ? bringBotShare(tx, userId, now()) : null,
  )
  return id === null ? null : shareUrl(config.publicUrl, id)
}

/** Reads what a link shows. A link that does not work any more is the same as one that has never existed. */
import { eq } from 'drizzle-orm'
import type { ServiceContext } from '#shared/service/context.ts'
import type { ActivityStatus } from '#shared/contracts/fields.ts'
import { SHARE_ID } from '#shared/contracts/shares.ts'
import { readPilgrimsDegraded } from '#shared/points/totals/pilgrim-statistics.ts'
import { zeroTotals } from '#shared/core/distance/points-to-distance.ts'
import { readStatus } from '#shared/pilgrims/activity-status.ts'
import { coarseKg, coarseKm, isExactForAll } from '#shared/pilgrims/public-figures.ts'
import { maySharePilgrim, type ShareRow } from '#shared/pilgrims/shares.ts'
import { savedMg, transportSums } from '#shared/core/rules/carbon.ts'
import { type Level, levelOf, achievementCard } from '#shared/core/rules/levels.ts'
import { roundKg, roundKm } from '#shared/core/rules/rounding.ts'
import { pilgrims, shares } from '#shared/stores/schema/tables.ts'
import { type Progress, progressOf } from './progress.ts'
import { type Fix, readWay } from './read-way.ts'

const HOUR_MS = 3_600_000
/** The line shows the last hours, and nothing from before the link began to show it. */
const LINE_MS = 6 * HOUR_MS

/** A link that works, and its pilgrim. */
export interface OpenShare {
  readonly row: ShareRow
  /** BCP 47. */
  readonly language: string | null
  /** Null where the link shows no name. */
  readonly name: string | null
}

interface LiveView {
  readonly untilMs: number
  /** Null: nothing has been heard. */
  readonly progress: Progress | null
  readonly line: readonly Fix[]
}

export interface ShareView {
  readonly name: string | null
  readonly level: Level
  readonly km: number
  readonly checkins: number
  readonly savedKg: number
  /** Whether the card is the achievement card. */
  readonly unlocked: boolean
  /** The latest points are missing. */
  readonly incomplete: boolean
  readonly status: ActivityStatus
  /** Null: the link does not show where the pilgrim is. */
  readonly live: LiveView | null
}

/** @returns null for a link that is revoked, expired, ended by a withdrawal or an erasure, or unknown */
export async function findShare(
  { db, now }: Pick<ServiceContext, 'db' | 'now'>,
  id: string,
): Promise<OpenShare | null> {
  if (!SHARE_ID.test(id)) return null
  const [found] = await db.read(() =>
    db.orm
      .select({ row: shares, pilgrim: pilgrims })
      .from(shares)
      .innerJoin(pilgrims, eq(pilgrims.userId, shares.userId))
      .where(eq(shares.id, id)),
  )
  if (found === undefined) return null
  const { row, pilgrim } = found
  if (row.expiresAt.getTime() <= now() || !maySharePilgrim(pilgrim)) return null
  return { row, language: pilgrim.language, name: row.showName ? pilgrim.displayName : null }
}

export async function readShare(context: ServiceContext, { row, name }: OpenShare): Promise<ShareView> {
  const { db, kv } = context
  const { userId } = row
  const [known, activity, live] = await Promise.all([
    readPilgrimsDegraded(context, [userId]),
    kv.status().then(
      (status) => status ?? readStatus(db),
      () => readStatus(db),
    ),
    readLive(context, row),
  ])
  const pilgrim = known.get(userId) ?? null
  const { distanceMm, checkins, carbonMg } = pilgrim?.statistics ?? zeroTotals()
  const reported = transportSums(pilgrim?.row?.transport ?? {})
  const savedKg = roundKg(savedMg(distanceMm + reported.distanceMm, carbonMg + reported.carbonMg))
  // A live link shows the place.
  const isExact = live !== null || (await isExactForAll(context))
  return {
    name,
    level: levelOf(distanceMm, checkins),
    km: isExact ? roundKm(distanceMm) : coarseKm(distanceMm / 1e6),
    checkins,
    savedKg: isExact ? savedKg : coarseKg(savedKg),
    unlocked:
      achievementCard({
        checkins,
        surveyCompleted: pilgrim?.row?.surveyCompleted ?? false,
        phone: pilgrim?.row?.phone ?? null,
      }) === 'unlocked',
    incomplete: (pilgrim?.pending ?? null) === null || (live?.incomplete ?? false),
    status: activity.status,
    live,
  }
}

async function readLive(
  context: ServiceContext,
  { userId, liveUntil, liveSince }: ShareRow,
): Promise<(LiveView & { readonly incomplete: boolean }) | null> {
  const nowMs = context.now()
  if (liveUntil === null || liveSince === null || liveUntil.getTime() <= nowMs) return null
  const { points, incomplete } = await readWay(
    context,
    userId,
    Math.max(nowMs - LINE_MS, liveSince.getTime()),
    liveSince.getTime(),
  )
  const progress = progressOf(points, context.config, nowMs)
  return { untilMs: liveUntil.getTime(), progress, line: points, incomplete }
}

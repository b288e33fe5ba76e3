/** Reads the content of a link. A link that no longer works is treated as one that never existed. */
import { eq } from 'drizzle-orm'
import type { ServiceContext } from '#shared/service/context.ts'
import type { ActivityStatus } from '#shared/contracts/fields.ts'
import type { StatusMessages } from '#shared/contracts/operations.ts'
import { SHARE_ID } from '#shared/contracts/shares.ts'
import { readPendingOf } from '#shared/points/pending-points.ts'
import { IS_PLACE } from '#shared/points/totals/stored-days.ts'
import { isPlace } from '#shared/core/rules/geo.ts'
import { readPilgrimsDegraded } from '#shared/points/totals/pilgrim-statistics.ts'
import { readMessages, readStatusCopy } from '#shared/pilgrims/activity-status.ts'
import { readExposure, type PublicFigures, publicFigures } from '#shared/pilgrims/profile.ts'
import { maySharePilgrim, type ShareRow } from '#shared/pilgrims/shares.ts'
import { pilgrims, shares } from '#shared/stores/schema/tables.ts'
import { type Fix, type Progress, progressOf } from './progress.ts'

const HOUR_MS = 3_600_000
/** The line shows the last hours, and nothing from before the link began to show it. */
const LINE_MS = 6 * HOUR_MS

export interface OpenShare {
  readonly row: ShareRow
  /** BCP 47. */
  readonly language: string | null
  /** Null if the link shows no name. */
  readonly name: string | null
}

interface LiveView {
  readonly untilMs: number
  readonly progress: Progress | null
  readonly line: readonly Fix[]
}

export interface ShareView extends PublicFigures {
  readonly name: string | null
  /** The latest points are missing. */
  readonly incomplete: boolean
  readonly status: ActivityStatus
  /** The organisers' message about the status, and the same for readers of each language. */
  readonly message: string | null
  readonly messages: StatusMessages | null
  /** Null: the link does not show the position. */
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
  const { userId } = row
  const [known, activity, live] = await Promise.all([
    readPilgrimsDegraded(context, [userId]),
    readStatusCopy(context),
    readLive(context, row),
  ])
  const pilgrim = known.get(userId) ?? null
  // A live link shows the exact position.
  const exposure = live !== null ? 'exact' : (await readExposure(context))(userId)
  return {
    name,
    ...publicFigures(pilgrim ?? { row: null, statistics: null }, exposure),
    incomplete: (pilgrim?.pending ?? null) === null || (live?.incomplete ?? false),
    status: activity.status,
    message: activity.message,
    messages: await readMessages(context.db, activity),
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
  const progress = progressOf(points, context.event.current, nowMs)
  return { untilMs: liveUntil.getTime(), progress, line: points, incomplete }
}

interface Way {
  /** Ordered by time. A single one may be older than the line's period. */
  readonly points: readonly Fix[]
  /** The latest points are missing. */
  readonly incomplete: boolean
}

/**
 * The first point of each slot is enough for the line. A phone that records every second sends more, and the time to
 * draw a line can grow with the square of its points.
 */
const SLOT_MS = 15_000
const slotOf = ({ t }: Fix): number => Math.floor(t / SLOT_MS)

/**
 * @param sinceMs start of the line, epoch milliseconds
 * @param fromMs nothing earlier is read, including the last place
 */
async function readWay(
  { db, kv }: Pick<ServiceContext, 'db' | 'kv'>,
  userId: string,
  sinceMs: number,
  fromMs: number,
): Promise<Way> {
  // Before the stored points, so that points stored by a flush in between are not missing.
  const waiting = await readPendingOf(kv, userId)
  const stored = await db.read(
    () => db.sql<Fix[]>`
      SELECT fix[1] AS t, fix[2] AS lat, fix[3] AS lng
      FROM (
        SELECT min(ARRAY[p.t, p.lat, p.lng]) AS fix
        FROM (
          SELECT epoch_ms(recorded_at) AS t, lat, lng FROM gps_points
          WHERE user_id = ${userId} AND in_range AND ${db.sql.unsafe(IS_PLACE)} AND recorded_at >= from_epoch_ms(${sinceMs})
        ) p
        GROUP BY floor(p.t / ${SLOT_MS}::int)
      ) slots
      UNION ALL
      SELECT epoch_ms(last_seen), last_lat, last_lng
      FROM pilgrim_totals WHERE user_id = ${userId} AND last_lat IS NOT NULL
        AND last_seen >= from_epoch_ms(${fromMs})`,
  )
  const pending = (waiting ?? [])
    .filter((point) => point.inRange && isPlace(point) && point.recordedMs >= fromMs)
    .map(({ recordedMs: t, lat, lng }) => ({ t, lat, lng }))
  const all = [...stored, ...pending].sort((a, b) => a.t - b.t)
  const last = all.at(-1)
  const recent = all.filter(({ t }) => t >= sinceMs)
  const line = recent.filter(
    (fix, i) => i === 0 || i === recent.length - 1 || slotOf(fix) !== slotOf(recent[i - 1]!),
  )
  return {
    points: line.length === 0 && last !== undefined ? [last] : line,
    incomplete: waiting === null,
  }
}

/** One day of a pilgrim's points, with what the fold makes of each: the reason of the day's sum. */
import { z } from 'zod'
import { peekPilgrim } from '#shared/points/pending-points.ts'
import { time } from '#shared/contracts/fields.ts'
import {
  MAX_WAY,
  type UserPoint,
  type UserPoints,
  type UserPointsQuery,
} from '#shared/contracts/user-history.ts'
import { decodeCursor, encodeCursor } from '#shared/service/http/pagination.ts'
import { roundKmOfRow } from '#shared/core/rules/rounding.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import type { Acting } from '#shared/service/security/admin-auth.ts'
import { expectKnown } from '#shared/pilgrims/profile.ts'
import { auditLook } from './audit-look.ts'
import {
  countLeftOut,
  type DayPoint,
  type Explained,
  explainDay,
  type ExplainedDay,
  isLeftOut,
  latestDay,
  waitingOf,
  type PointDays,
  readPointDays,
} from './explain-day.ts'

const NOTHING: ExplainedDay = { points: [], truncated: false }

/**
 * A page of a day. Without the buffer its points are missing, and the answer says so.
 * @throws Refusal 404 for an unknown pilgrim, 503 when that can not be determined
 */
export async function listPoints(
  context: ServiceContext,
  operator: Acting,
  userId: string,
  { day: asked, only, limit, cursor }: UserPointsQuery,
): Promise<UserPoints> {
  const { kv, db } = context
  const entries = await peekPilgrim(kv, userId)
  const waiting = waitingOf(entries ?? [])
  const stored = await readPointDays(db, userId)
  expectKnown(userId, stored.isStored, entries && waiting.length)
  const day = asked ?? latestDay(context, stored, waiting)
  const list = `points:${userId}:${day}:${only ?? 'all'}`
  const from = cursor === undefined ? 0 : decodeCursor(list, cursor, z.tuple([z.int().min(0).max(1e7)]))[0]
  if (from === 0) await auditLook(context, operator, userId, { action: 'show-points' }, stored.isStored)
  const { points, truncated } = day === null ? NOTHING : await explainDay(context, userId, day, waiting)
  const listed = only === undefined ? points : points.filter(isLeftOut)
  return {
    day,
    days: daysOf(context, stored, waiting),
    items: listed.slice(from, from + limit).map(shown),
    next_cursor: listed.length > from + limit ? encodeCursor(list, [from + limit]) : null,
    way: wayOf(points),
    total: listed.length,
    left_out: countLeftOut(points),
    truncated,
    pending: entries && entries.length,
  }
}

/** Stored days, and those of which all points still wait: today is one of them until its first flush. */
function daysOf(
  { calendar }: Pick<ServiceContext, 'calendar'>,
  { days }: PointDays,
  waiting: readonly DayPoint[],
): UserPoints['days'] {
  const known = new Set(days.map(({ day }) => day))
  const inside = waiting.filter(({ inRange }) => inRange)
  const added = [...Map.groupBy(inside, ({ recordedMs }) => calendar.day(recordedMs))]
    .filter(([day]) => !known.has(day))
    .map(([day, { length }]) => ({ day, points: length, km: 0 }))
  return [
    ...days.map(({ day, points, distanceMm }) => ({ day, points, km: roundKmOfRow(distanceMm) })),
    ...added,
  ].sort((a, b) => (a.day < b.day ? 1 : -1))
}

function wayOf(points: readonly Explained[]): [number, number][] {
  const way = points.filter(({ outcome }) => outcome === 'counted' || outcome === 'first')
  const step = Math.max(1, (way.length - 1) / (MAX_WAY - 1))
  const count = Math.min(way.length, MAX_WAY)
  return Array.from({ length: count }, (_, i) => way[Math.round(i * step)]!).map(({ lng, lat }) => [lng, lat])
}

const shown = (point: Explained): UserPoint => ({
  kind: point.kind === 'c' ? 'checkin' : 'track',
  recorded_at: time(point.recordedMs),
  received_at: time(point.receivedMs),
  lat: point.lat,
  lng: point.lng,
  accuracy: point.accuracy,
  mode: point.mode,
  source: point.source,
  clock_corrected: point.recordedMs !== point.sentMs,
  pending: point.pending,
  outcome: point.outcome,
  km: point.distanceMm / 1e6,
})

/** One day of a pilgrim's points, with what the fold makes of each: the reason of the day's sum. */
import { z } from 'zod'
import { peekWithTimeout } from '#shared/buffer/read-pending-points.ts'
import { fieldOf, type Point } from '#shared/buffer/point.ts'
import { time } from '#shared/contracts/fields.ts'
import {
  MAX_POINTS_A_DAY,
  MAX_WAY,
  type UserPoint,
  type UserPoints,
  type UserPointsQuery,
} from '#shared/contracts/user-history.ts'
import { type ExplainedPoint, explainPoints } from '#shared/fold/explain-points.ts'
import { byInstant, type FoldPoint, START } from '#shared/fold/fold.ts'
import { readDays } from '#shared/fold/stored-days.ts'
import { decodeCursor, encodeCursor } from '#shared/http/pagination.ts'
import { unavailable } from '#shared/http/errors.ts'
import { roundKm } from '#shared/rules/rounding.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { auditLook, type Look, unknownPilgrim } from './audit-look.ts'
import { readable } from './readable-entries.ts'
import { readDayPoints, readPointDays } from './read-day-points.ts'

/** A point of the day; `pending`: in the buffer. */
type DayPoint = Point & { readonly pending: boolean }

/**
 * A page of a day. Without the buffer its points are missing, and the answer says so.
 * @throws Refusal 404 for an unknown pilgrim, 503 when that can not be determined
 */
export async function listPoints(
  context: ServiceContext,
  look: Look,
  { day: asked, limit, cursor }: UserPointsQuery,
): Promise<UserPoints> {
  const { kv, db, calendar } = context
  const { userId } = look
  const entries = (await peekWithTimeout(kv, [userId]))?.[0] ?? null
  const waiting = readable(entries ?? []).map((point) => ({ ...point, pending: true }))
  const { days, isStored } = await readPointDays(db, userId)
  if (!isStored && waiting.length === 0) {
    if (entries === null)
      throw unavailable('Nothing is stored about this pilgrim yet. Please try again in a moment.')
    throw unknownPilgrim(userId)
  }
  const latest = [...days.map(({ day }) => day), ...waiting.map(({ recordedMs }) => calendar.day(recordedMs))]
  const day = asked ?? latest.sort().at(-1) ?? null
  const list = `points:${userId}:${day}`
  const from = cursor === undefined ? 0 : decodeCursor(list, cursor, z.tuple([z.int().min(0).max(1e7)]))[0]
  if (from === 0) await auditLook(context, look, 'show-points', isStored)
  const points = day === null ? [] : await pointsOf(context, userId, day, waiting)
  const explained = day === null ? [] : await explain(context, userId, day, points)
  return {
    day,
    days: days.map(({ day, points, distanceMm }) => ({ day, points, km: roundKm(distanceMm) })),
    items: explained.slice(from, from + limit).map(shown),
    next_cursor: explained.length > from + limit ? encodeCursor(list, [from + limit]) : null,
    way: wayOf(explained),
    truncated: points.length >= MAX_POINTS_A_DAY,
    pending: entries && entries.length,
  }
}

/** The points of a day from the table and the buffer. One that a flush has stored meanwhile is in both. */
async function pointsOf(
  { db, calendar }: ServiceContext,
  userId: string,
  day: string,
  waiting: readonly DayPoint[],
): Promise<DayPoint[]> {
  const stored = await readDayPoints(db, userId, calendar.span(day), MAX_POINTS_A_DAY)
  const known = new Set(stored.map(fieldOf))
  return [
    ...stored.map((point) => ({ ...point, pending: false })),
    ...waiting.filter((point) => calendar.day(point.recordedMs) === day && !known.has(fieldOf(point))),
  ]
}

type Explained = DayPoint & Pick<UserPoint, 'outcome'> & { readonly distanceMm: number }

const foldPointOf = ({ kind, sentMs, recordedMs, lat, lng, mode }: Point): FoldPoint => ({
  ...{ kind, sentMs, lat, lng, mode },
  t: recordedMs,
})

/** Folds the day from the stored end of the day before it. */
async function explain(
  { db }: ServiceContext,
  userId: string,
  day: string,
  points: readonly DayPoint[],
): Promise<Explained[]> {
  const stored = (await db.read(() => readDays(db.sql, [{ userId, from: day }]))).get(userId) ?? []
  const start = stored.find((before) => before.day < day)?.end ?? START
  const ordered = [...points].sort((a, b) => byInstant(foldPointOf(a), foldPointOf(b)))
  const outcomes = explainPoints(start, ordered.filter(({ inRange }) => inRange).map(foldPointOf)).values()
  return ordered.map((point) => ({
    ...point,
    ...(point.inRange
      ? (outcomes.next().value as ExplainedPoint)
      : { outcome: 'outside' as const, distanceMm: 0 }),
  }))
}

/** The places of counted points, thinned out evenly. */
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

/**
 * Excludes late points of claims, and segments faster than walking, from the walks shown to others until the next
 * midnight of the event.
 */
import type { Tx } from '#shared/stores/db/db.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'
import type { FoldState } from '#shared/core/distance/points-to-distance.ts'
import { walkInOrder } from '#shared/points/totals/points-in-order.ts'
import { fixOf } from '#shared/points/totals/stored-days.ts'
import type { Point } from '#shared/points/point.ts'
import type { OwnedPoint } from './store-points.ts'

interface Row {
  readonly user_id: string
  readonly mm: number
  readonly mg: number
  readonly shown: boolean
  readonly a_lat: number | null
  readonly a_lng: number | null
  readonly a_ms: number | null
  readonly b_lat: number | null
  readonly b_lng: number | null
  readonly b_ms: number | null
}

/**
 * Updates the walks shown to others. Call it before the totals are written, with their rows locked.
 * @param fresh new points, none of them stored yet
 * @param changes claims with a new point in the area: the end of the stored walk before these points
 */
export async function updateShownWalks(
  tx: Tx,
  fresh: readonly OwnedPoint[],
  changes: readonly { readonly userId: string; readonly before: FoldState }[],
  calendar: Calendar,
): Promise<void> {
  if (changes.length === 0) return
  const added = Map.groupBy(
    fresh.filter(({ point }) => point.inRange),
    ({ userId }) => userId,
  )
  const stored = await readWalks(
    tx,
    changes.map(({ userId }) => userId),
  )
  const walks = changes.flatMap(({ userId, before }) => {
    const points = (added.get(userId) ?? []).map(({ point }): Point => point)
    const { isShown = false, ...walk } = stored.get(userId) ?? { distanceMm: 0, carbonMg: 0, end: before }
    const { isWhole, ...shown } = walkInOrder(isShown ? walk : { ...walk, end: before }, points)
    return isWhole && !isShown ? [] : [{ userId, ...shown }]
  })
  if (walks.length === 0) return
  // The code that shows these walks uses the same clock.
  const [{ ms }] = await tx.sql<[{ ms: number }]>`SELECT epoch_ms(now()) AS ms`
  const [, untilMs] = calendar.span(calendar.day(ms))
  const anchors = walks.map(({ end }) => end.anchor)
  const befores = walks.map(({ end }) => end.before)
  await tx.sql`
    INSERT INTO shown_walks AS s (user_id, distance_mm, carbon_mg, anchor_lat, anchor_lng, anchor_at,
      before_lat, before_lng, before_at, until)
    SELECT user_id, mm::bigint, mg::bigint, a_lat, a_lng, from_epoch_ms(a_ms), b_lat, b_lng,
      from_epoch_ms(b_ms), from_epoch_ms(${untilMs})
    FROM unnest(
      ${walks.map(({ userId }) => userId)}::text[], ${walks.map(({ distanceMm }) => distanceMm)}::float8[],
      ${walks.map(({ carbonMg }) => carbonMg)}::float8[],
      ${anchors.map((a) => a?.lat ?? null)}::float8[], ${anchors.map((a) => a?.lng ?? null)}::float8[],
      ${anchors.map((a) => a?.t ?? null)}::float8[],
      ${befores.map((b) => b?.lat ?? null)}::float8[], ${befores.map((b) => b?.lng ?? null)}::float8[],
      ${befores.map((b) => b?.t ?? null)}::float8[]
    ) AS w (user_id, mm, mg, a_lat, a_lng, a_ms, b_lat, b_lng, b_ms)
    ORDER BY user_id
    ON CONFLICT (user_id) DO UPDATE SET distance_mm = excluded.distance_mm, carbon_mg = excluded.carbon_mg,
      anchor_lat = excluded.anchor_lat, anchor_lng = excluded.anchor_lng, anchor_at = excluded.anchor_at,
      before_lat = excluded.before_lat, before_lng = excluded.before_lng, before_at = excluded.before_at,
      until = excluded.until`
}

/** The walk of each pilgrim that others are shown; without one (`isShown`), the stored sums. */
async function readWalks(tx: Tx, userIds: readonly string[]) {
  const rows = await tx.sql<Row[]>`
    SELECT t.user_id, coalesce(s.distance_mm, t.distance_mm)::float8 AS mm,
           coalesce(s.carbon_mg, t.carbon_mg)::float8 AS mg, s.user_id IS NOT NULL AS shown,
           s.anchor_lat AS a_lat, s.anchor_lng AS a_lng, epoch_ms(s.anchor_at) AS a_ms,
           s.before_lat AS b_lat, s.before_lng AS b_lng, epoch_ms(s.before_at) AS b_ms
    FROM pilgrim_totals t
    LEFT JOIN shown_walks s ON s.user_id = t.user_id AND s.until > now()
    WHERE t.user_id = ANY(${userIds as string[]}::text[])`
  return new Map(
    rows.map(({ user_id, mm, mg, shown, a_lat, a_lng, a_ms, b_lat, b_lng, b_ms }) => {
      const end = { anchor: fixOf(a_lat, a_lng, a_ms), before: fixOf(b_lat, b_lng, b_ms) }
      return [user_id, { distanceMm: mm, carbonMg: mg, end, isShown: shown }]
    }),
  )
}

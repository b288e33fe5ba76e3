/** Stores the walks of claims as others see them until the end of the event (`points/totals/points-in-order.ts`). */
import type { Tx } from '#shared/stores/db/db.ts'
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

/** Walks of releases before 1.8 ended with the day; those of this one stay. The year 2100, epoch milliseconds. */
const SHOWN_UNTIL_MS = Date.UTC(2100, 0)

/**
 * Updates the walks shown to others. Call it before the totals are written, with their rows locked.
 * @param fresh new points, none of them stored yet
 * @param changes claims with a new point in the area: the end of the stored walk before these points
 */
export async function updateShownWalks(
  tx: Tx,
  fresh: readonly OwnedPoint[],
  changes: readonly { readonly userId: string; readonly before: FoldState }[],
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
  const walks = changes.map(({ userId, before }) => {
    const points = (added.get(userId) ?? []).map(({ point }): Point => point)
    const { isShown = false, ...walk } = stored.get(userId) ?? { distanceMm: 0, carbonMg: 0, end: before }
    return { userId, ...walkInOrder(isShown ? walk : { ...walk, end: before }, points) }
  })
  const anchors = walks.map(({ end }) => end.anchor)
  const befores = walks.map(({ end }) => end.before)
  await tx.sql`
    INSERT INTO shown_walks AS s (user_id, distance_mm, carbon_mg, anchor_lat, anchor_lng, anchor_at,
      before_lat, before_lng, before_at, until)
    SELECT user_id, mm::bigint, mg::bigint, a_lat, a_lng, from_epoch_ms(a_ms), b_lat, b_lng,
      from_epoch_ms(b_ms), from_epoch_ms(${SHOWN_UNTIL_MS})
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

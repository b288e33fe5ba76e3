/** Stores the walks of claims as others see them until the end of the event (`points/totals/points-in-order.ts`). */
import type { Tx } from '#shared/stores/db/db.ts'
import type { FoldState } from '#shared/core/distance/points-to-distance.ts'
import { type Row as TotalsRow, type Table, upsertOf } from '#shared/points/totals/event-totals.ts'
import { NOT_WALKED, type ShownWalk, walkInOrder } from '#shared/points/totals/points-in-order.ts'
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

export const SHOWN_WALKS: Table = {
  name: 'shown_walks',
  key: ['user_id'],
  columns: {
    user_id: 'text',
    distance_mm: 'whole',
    carbon_mg: 'whole',
    anchor_lat: 'number',
    anchor_lng: 'number',
    anchor_at: 'instant',
    before_lat: 'number',
    before_lng: 'number',
    before_at: 'instant',
    until: 'instant',
  },
}

export const shownWalkRow = (userId: string, { distanceMm, carbonMg, end }: ShownWalk): TotalsRow => ({
  user_id: userId,
  distance_mm: distanceMm,
  carbon_mg: carbonMg,
  anchor_lat: end.anchor?.lat ?? null,
  anchor_lng: end.anchor?.lng ?? null,
  anchor_at: end.anchor?.t ?? null,
  before_lat: end.before?.lat ?? null,
  before_lng: end.before?.lng ?? null,
  before_at: end.before?.t ?? null,
  until: SHOWN_UNTIL_MS,
})

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
    const { isShown, ...walk } = stored.get(userId) ?? { ...NOT_WALKED, isShown: false }
    return shownWalkRow(userId, walkInOrder(isShown ? walk : { ...walk, end: before }, points))
  })
  await tx.sql.unsafe(upsertOf(SHOWN_WALKS).join('$1'), [JSON.stringify(walks)])
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

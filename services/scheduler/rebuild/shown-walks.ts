/** Rebuilds the walks of claims as others see them (`points/totals/points-in-order.ts`). */
import { cursorBatches, type Tx } from '#shared/stores/db/db.ts'
import type { FoldPoint } from '#shared/core/distance/points-to-distance.ts'
import { IS_CLAIM } from '#shared/pilgrims/report-totals.ts'
import type { Row } from '#shared/points/totals/event-totals.ts'
import { addSteps, NOT_WALKED, type ShownWalk } from '#shared/points/totals/points-in-order.ts'
import { FOLD_COLUMNS } from '#shared/points/totals/stored-days.ts'
import { SHOWN_WALKS, shownWalkRow } from '../flush/update-shown-walks.ts'
import { type Differences, storedRows } from './differences.ts'

/** Pilgrims whose rows are compared together. */
const BATCH = 500

type Step = FoldPoint & { readonly userId: string }

/** Points of claims, in the order of their receipt, at the instants of `walkInOrder`. */
const STEPS = `
  SELECT user_id AS "userId", kind, "sentMs", least(t, received_ms) AS t, lat, lng, mode, rough
  FROM (
    SELECT user_id, ${FOLD_COLUMNS}, epoch_ms(received_at) AS received_ms
    FROM gps_points t WHERE in_range AND ${IS_CLAIM}
  ) points
  ORDER BY user_id, received_ms, least(t, received_ms), kind, "sentMs"`

const withoutStep = (areShown: boolean): string => `
  SELECT user_id FROM shown_walks t
  ${areShown ? `WHERE NOT (${IS_CLAIM} AND EXISTS (SELECT FROM gps_points g WHERE g.user_id = t.user_id AND g.in_range))` : ''}
  ORDER BY 1`

/**
 * Reconciles the walks of all claims.
 * @param areShown whether others see them; if not, none is stored
 */
export async function rebuildShownWalks(tx: Tx, areShown: boolean, differences: Differences): Promise<void> {
  let batch: Row[] = []
  const reconcile = async () => {
    const userIds = batch.map((row) => row.user_id as string)
    await differences.reconcile(tx, SHOWN_WALKS, batch, await storedRows(tx, SHOWN_WALKS, userIds))
    batch = []
  }
  if (areShown)
    for await (const row of walks(tx)) {
      batch.push(row)
      if (batch.length === BATCH) await reconcile()
    }
  await reconcile()
  for await (const page of cursorBatches<{ user_id: string }>(tx, 'stale', withoutStep(areShown))) {
    const userIds = page.map((row) => row.user_id)
    await differences.reconcile(tx, SHOWN_WALKS, [], await storedRows(tx, SHOWN_WALKS, userIds))
  }
}

async function* walks(tx: Tx): AsyncGenerator<Row> {
  let current = null as { readonly userId: string; walk: ShownWalk } | null
  for await (const page of cursorBatches<Step>(tx, 'steps', STEPS))
    for (const [userId, steps] of Map.groupBy(page, (step) => step.userId)) {
      if (current !== null && current.userId !== userId) yield shownWalkRow(current.userId, current.walk)
      current = { userId, walk: addSteps(current?.userId === userId ? current.walk : NOT_WALKED, steps) }
    }
  if (current !== null) yield shownWalkRow(current.userId, current.walk)
}

/** Applies the current area to stored points. */
import type { InArea } from '#shared/runtime/config/setting-values.ts'
import { cursorBatches, type Tx } from '#shared/stores/db/db.ts'
import type { Differences } from './differences.ts'

interface StoredPlace {
  readonly user_id: string
  readonly kind: string
  readonly sent_at: string
  readonly lat: number
  readonly lng: number
  readonly in_range: boolean
}

/** Corrects for each stored point whether it is in the area, and reports the number of corrections. */
export async function applyArea(tx: Tx, area: InArea, differences: Differences): Promise<void> {
  let changed = 0
  const select = 'SELECT user_id, kind, sent_at::text AS sent_at, lat, lng, in_range FROM gps_points'
  for await (const page of cursorBatches<StoredPlace>(tx, 'places', select)) {
    const wrong = page.filter(({ lat, lng, in_range: inRange }) => area(lat, lng) !== inRange)
    if (wrong.length === 0) continue
    changed += wrong.length
    await tx.sql`
      UPDATE gps_points g SET in_range = NOT g.in_range
      FROM jsonb_to_recordset(${JSON.stringify(wrong)}::text::jsonb)
        AS w(user_id text, kind text, sent_at timestamptz)
      WHERE g.user_id = w.user_id AND g.kind = w.kind AND g.sent_at = w.sent_at`
  }
  if (changed > 0) differences.found(`gps_points: ${changed} entered or left the area`)
}

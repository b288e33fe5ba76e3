/** The export of a long walk, which is read in pages. */
import { expect, test } from 'bun:test'
import { exportUser } from '#services/admin/pilgrims/export-user.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { describeFlushHarness, NOON } from '#tests/scheduler/flush-harness.ts'

/** Track points, one a second; a check-in shares its instant with the last one of the first page. */
const POINTS = 5_002
const SHARED = 4_999

describeFlushHarness('an export', (harness) => {
  test('leaves out no point when a page ends between two points of one instant', async () => {
    await harness.db.sql`INSERT INTO pilgrims (user_id, created_at, updated_at) VALUES ('anna', now(), now())`
    const insert = (kind: string, from: number, to: number) => harness.db.sql`
      INSERT INTO gps_points (user_id, kind, sent_at, recorded_at, received_at, lat, lng, in_range, clock_corrected)
      SELECT 'anna', ${kind}, t, t, t, 24, 120.5, true, false
      FROM generate_series(${from}::int, ${to}::int) s,
        LATERAL (SELECT to_timestamp(${NOON}::float8 / 1000 + s) AS t) at`
    await insert('t', 0, POINTS - 1)
    await insert('c', SHARED, SHARED)
    const look = { operator: null, userId: 'anna', requestId: 'r' }
    const answer = await exportUser(harness.context() as unknown as ServiceContext, look, 'gpx')
    const gpx = await answer.text()
    expect(gpx.match(/<wpt /g)).toHaveLength(1)
    expect(gpx.match(/<trkpt /g)).toHaveLength(POINTS + 1)
  })
})

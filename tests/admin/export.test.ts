/** The export of a long walk, which is read in pages. */
import { expect, test } from 'bun:test'
import { exportUser } from '#services/admin/pilgrims/export-user.ts'
import { pack } from '#shared/points/point.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { describeFlushHarness, NOON } from '#tests/scheduler/flush-harness.ts'
import { point } from '#tests/scheduler/walks.ts'

/** Track points, one a second; a check-in shares its instant with the last one of the first page. */
const POINTS = 5_002
const SHARED = 4_999

describeFlushHarness('an export', (harness) => {
  const insert = (kind: string, from: number, to: number) => harness.db.sql`
    INSERT INTO gps_points (user_id, kind, sent_at, recorded_at, received_at, lat, lng, in_range, clock_corrected)
    SELECT 'anna', ${kind}, t, t, t, 24, 120.5, true, false
    FROM generate_series(${from}::int, ${to}::int) s,
      LATERAL (SELECT to_timestamp(${NOON}::float8 / 1000 + s) AS t) at`
  const fill = async () => {
    await harness.db.sql`INSERT INTO pilgrims (user_id, created_at, updated_at) VALUES ('anna', now(), now())`
    await insert('t', 0, POINTS - 1)
    await insert('c', SHARED, SHARED)
  }
  const download = (format: 'gpx' | 'json') =>
    exportUser(
      { ...harness.context(), event: { current: { name: 'Walk' } } } as unknown as ServiceContext,
      null,
      'anna',
      format,
    )

  test('leaves out no point when a page ends between two points of one instant', async () => {
    await fill()
    const gpx = await (await download('gpx')).text()
    expect(gpx.match(/<wpt /g)).toHaveLength(1)
    expect(gpx.match(/<trkpt /g)).toHaveLength(POINTS + 1)
  })

  test('has a damaged pending point as its text, beside the good ones', async () => {
    await harness.db.sql`INSERT INTO pilgrims (user_id, created_at, updated_at) VALUES ('anna', now(), now())`
    await insert('t', 0, 2)
    await harness.bufferEntries('anna', [
      { field: `t${NOON + 60_000}`, value: 'damaged' },
      pack(point({ sentMs: NOON + 120_000, recordedMs: NOON + 120_000, lat: 24.1 })),
    ])
    const whole = (await (await download('json')).json()) as { gps_points: object[]; pending: object[] }
    expect(whole.gps_points).toHaveLength(3)
    expect(whole.pending).toHaveLength(2)
    expect(whole.pending).toContainEqual({ user_id: 'anna', unreadable: `t${NOON + 60_000} damaged` })
    expect(whole.pending).toContainEqual(expect.objectContaining({ lat: 24.1 }))
    expect((await (await download('gpx')).text()).match(/<trkpt /g)).toHaveLength(4)
  })

  test('doubles and loses no row when others come and go while it is read', async () => {
    await fill()
    // The first page is read when the answer begins; the client has not asked for the next one yet.
    const answer = await download('json')
    expect(answer.body).not.toBeNull()
    await insert('c', SHARED + 1, SHARED + 9)
    await harness.db
      .sql`DELETE FROM gps_points WHERE user_id = 'anna' AND kind = 't' AND sent_at < to_timestamp(${NOON}::float8 / 1000 + 4)`
    const { gps_points: points } = (await answer.json()) as {
      gps_points: { kind: string; sent_at: string }[]
    }
    const identities = points.map(({ kind, sent_at: at }) => `${kind} ${at}`)
    expect(new Set(identities).size).toBe(identities.length)
    const tracks = points.filter(({ kind }) => kind === 't').map(({ sent_at: at }) => Date.parse(at))
    expect(tracks).toEqual(Array.from({ length: POINTS }, (_, i) => NOON + i * 1_000))
  })
})

/** Fills a database like an event: pilgrims with profiles, surveys and points, stored by the real flush. */
import { flushSlice } from '#services/scheduler/flush/flush-slice.ts'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { rollUpCells } from '#services/scheduler/flush/roll-up-cells.ts'
import { ensureDayPartitions } from '#shared/stores/db/day-partitions.ts'
import { pack } from '#shared/points/point.ts'
import type { Database } from '#shared/stores/db/db.ts'
import type { Pending } from '#shared/stores/kv/kv.ts'
import { recountReported } from '#shared/pilgrims/report-totals.ts'
import { recountSurveys } from '#shared/pilgrims/survey-counts.ts'
import { createLog } from '#shared/runtime/log.ts'
import { walkerId } from '#tests/tools/scale/fill.ts'
import { point } from '#tests/scheduler/walks.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
const DAYS = 4
/** Points of one transaction, as the scheduler takes them. */
const SLICE = 5_000
const MODES = [null, null, null, null, 'walk', 'bus', 'car']

/** Points of one pilgrim in one flush: minutes apart, northward, after this many days of walking. */
function entriesOf(i: number, startMs: number, days: number, count: number) {
  const fromMs = startMs + (i % 240) * MINUTE_MS + (i % 59) * 1_000
  return Array.from({ length: count }, (_, n) =>
    pack(
      point({
        kind: n === 0 && i % 3 === 0 ? 'c' : 't',
        sentMs: fromMs + n * 2 * MINUTE_MS,
        receivedMs: fromMs + n * 2 * MINUTE_MS + 500,
        // Each pilgrim has their own speed.
        lat: 24 + (i % 997) / 1_000 + days * (0.1 + (i % 7_919) / 1e6) + n * 0.001,
        lng: 120.5 + (i % 89) / 180,
        accuracy: 8,
        mode: MODES[i % MODES.length]!,
      }),
    ),
  )
}

/**
 * Stores `perPilgrim` points of each of `pilgrims`, over four days that end on the day of `nowMs`, in
 * `rounds` flushes; then profiles, reports and surveys.
 */
export async function fill(
  db: Database,
  calendar: Calendar,
  { pilgrims, perPilgrim, rounds, nowMs }: Record<'pilgrims' | 'perPilgrim' | 'rounds' | 'nowMs', number>,
): Promise<void> {
  const now = () => nowMs
  const firstDayMs = calendar.span(calendar.day(nowMs - (DAYS - 1) * DAY_MS))[0]
  for (let day = 0; day < DAYS; day++)
    await ensureDayPartitions(
      db,
      firstDayMs + day * DAY_MS,
      createLog({}, () => undefined),
    )
  const count = perPilgrim / rounds
  for (let round = 0; round < rounds; round++) {
    const part = (round * DAYS) / rounds
    const startMs = firstDayMs + Math.floor(part) * DAY_MS + (part % 1) * 12 * 3_600_000 + 5 * 3_600_000
    const days = (startMs - firstDayMs) / DAY_MS
    const users = Math.ceil(SLICE / count)
    const slices = Array.from({ length: Math.ceil(pilgrims / users) }, (_, slice) => slice * users)
    // Three concurrent slices, as in the flush.
    const worker = async () => {
      for (let from = slices.shift(); from !== undefined; from = slices.shift()) {
        const pending: Pending[] = []
        for (let i = from; i < Math.min(from + users, pilgrims); i++)
          pending.push({ userId: walkerId(i), entries: entriesOf(i, startMs, days, count) })
        await flushSlice(db, calendar, { epoch: 'bench', partition: 0, pending }, now)
      }
    }
    await Promise.all([worker(), worker(), worker()])
    await rollUpCells({ db, log: createLog({}, () => {}), metrics: createMetrics('test') }, calendar)
  }
  await describePilgrims(db)
}

/** Names for most pilgrims, reports of every third, surveys of every second. */
async function describePilgrims({ sql }: Database): Promise<void> {
  await sql`
    UPDATE pilgrims SET
      display_name = CASE WHEN n % 5 > 0 THEN chr(19968 + n % 500) || chr(20968 + n % 700) || ' ' || n END,
      consumption = CASE WHEN n % 3 = 0 THEN jsonb_build_object('water', n % 9, 'hotel', n % 4) ELSE '{}' END,
      transport = CASE WHEN n % 3 = 0 THEN jsonb_build_object('car', (n % 90) / 4.0, 'hsr', n % 200) ELSE '{}' END,
      survey_completed_at = CASE WHEN n % 2 = 0 THEN updated_at END
    FROM (SELECT user_id AS id, right(user_id, 6)::int AS n FROM pilgrims) u WHERE id = user_id`
  await sql`
    INSERT INTO surveys (user_id, answers, revision, submitted_at)
    SELECT user_id, jsonb_build_object('q1', 'choice ' || n % 5, 'q2', n % 10, 'q3', n % 3 = 0,
      'q4', jsonb_build_array('a' || n % 4, 'b' || n % 7), 'q5', 'choice ' || n % 6, 'q6', n % 100,
      'q7', 'choice ' || n % 3, 'q8', 'choice ' || n % 4, 'q9', 'a remark of ' || n, 'q10', 'another one ' || n * 7),
      1, updated_at
    FROM (SELECT *, right(user_id, 6)::int AS n FROM pilgrims) p WHERE n % 2 = 0`
  await sql.begin(async (tx) => {
    await recountReported({ sql: tx })
    await recountSurveys({ sql: tx })
  })
  await sql`VACUUM ANALYZE`
}

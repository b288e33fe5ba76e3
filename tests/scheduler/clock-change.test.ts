/** Days of 23 and 25 hours. */
import { expect, test } from 'bun:test'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import { expectProjections } from './projections.ts'
import { describeFlushHarness } from './flush-harness.ts'
import { createRandom } from '#tests/helpers/random.ts'
import { jumbled, walk, wander } from './walks.ts'

const HOUR_MS = 3_600_000
const calendar = createCalendar('Europe/Berlin')

describeFlushHarness('clock change', (harness) => {
  for (const [day, midnight, hours] of [
    ['2026-03-29', '2026-03-28T23:00:00Z', 23],
    ['2026-10-25', '2026-10-24T22:00:00Z', 25],
  ] as const)
    test(`a day of ${hours} hours`, async () => {
      const startMs = Date.parse(midnight)
      harness.nowMs = startMs
      await harness.buffer('anna', walk(hours * 60, startMs))
      await harness.flush({ calendar })
      const [row] = await harness.db.sql`SELECT day::text, points, hours FROM pilgrim_days`
      expect(row).toEqual({ day, points: hours * 60, hours: 2 ** hours - 1 })
      const eventHours = await harness.db.sql`
        SELECT (extract(epoch FROM hour) * 1000)::float8 AS ms, points, pilgrims FROM event_hours ORDER BY hour`
      expect([...eventHours]).toEqual(
        Array.from({ length: hours }, (_, i) => ({ ms: startMs + i * HOUR_MS, points: 60, pilgrims: 1 })),
      )

      const random = createRandom(hours)
      const arrivals = jumbled(random, wander(random, 200, startMs - 12 * HOUR_MS, 2), 80)
      for (let from = 0; from < arrivals.length; from += 25) {
        await harness.buffer('ben', arrivals.slice(from, from + 25))
        await harness.flush({ calendar })
      }
      await expectProjections(harness.db, calendar)
    })
})

/**
 * Counts of the last hour: every point is counted once, however late a reading comes, and at most an hour is
 * stored.
 */
import { expect, test } from 'bun:test'
import { ReceivedSteps } from '#services/admin/supervision/last-hour.ts'
import type { CountersReading } from '#services/admin/stream/counts.ts'

const START = Date.parse('2026-04-12T02:00:00Z')
const at = (seconds: number): number => START + seconds * 1_000

/** A reading of one partition. */
const reading = (admitted: number, checkins: number, epoch = 'a'): CountersReading => ({
  atMs: 0,
  counters: [
    { epoch, admitted, checkins, callers: {}, duplicate: 0, dropped: 0, settled: 0, erased: 0, expired: 0 },
  ],
})

test('nothing is known before the first reading, and nothing of the time before it', () => {
  const steps = new ReceivedSteps()
  expect(steps.read()).toBeNull()
  steps.add(reading(5_000, 900), at(3))
  expect(steps.read()).toEqual({
    since: '2026-04-12T02:00:00.000Z',
    through: '2026-04-12T02:00:00.000Z',
    points: 0,
    checkins: 0,
    steps: [],
  })
})

test('steps hold what was received in them; a late reading is shared over the steps that it missed', () => {
  const steps = new ReceivedSteps()
  steps.add(reading(100, 10), at(0))
  // A reading within a step adds nothing and loses nothing.
  steps.add(reading(101, 11), at(2))
  steps.add(reading(107, 12), at(10.4))
  steps.add(reading(112, 12), at(39.9))
  expect(steps.read()).toEqual({
    since: '2026-04-12T02:00:00.000Z',
    through: '2026-04-12T02:00:40.000Z',
    points: 12,
    checkins: 2,
    steps: [
      [7, 2],
      [1, 0],
      [2, 0],
      [2, 0],
    ],
  })
  // The store restarted empty: its counters begin at zero.
  steps.add(reading(4, 4, 'b'), at(50))
  expect(steps.read()).toMatchObject({ points: 16, checkins: 6 })
})

test('an hour is held and no more, also after a long silence; a clock that is set back begins anew', () => {
  const steps = new ReceivedSteps()
  for (let i = 0; i <= 400; i++) steps.add(reading(i * 3, i), at(i * 10))
  expect(steps.read()).toMatchObject({
    since: new Date(at(400)).toISOString(),
    through: new Date(at(4_000)).toISOString(),
    points: 1_080,
    checkins: 360,
  })
  steps.add(reading(1_200 + 86_400, 400), at(4_000 + 864_000))
  expect(steps.read()).toMatchObject({ points: 360, checkins: 0 })
  expect(steps.read()!.steps).toHaveLength(360)
  steps.add(reading(99_999, 400), at(0))
  expect(steps.read()).toMatchObject({ steps: [], through: new Date(at(0)).toISOString() })
})

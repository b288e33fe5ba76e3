/**
 * GPSLogger after a dead zone: it sends everything at once, and drops what is not accepted within minutes.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { STACK_TIMEOUT_MS } from '#tests/helpers/open-test-stack.ts'
import { newPilgrimId } from '#tests/helpers/test-stack.ts'
import { gpsLogger, type Fix } from '#tests/tracking/tracker-bodies.ts'
import { sendFile, sendJobs } from './gpslogger.ts'
import { HOUR_MS, MINUTE_MS, openSimulation, SECOND_MS, type Simulation } from './simulation.ts'

let simulation: Simulation
beforeAll(async () => {
  simulation = await openSimulation()
}, STACK_TIMEOUT_MS)
afterAll(() => simulation?.[Symbol.asyncDispose]())

/** A fix every 30 s (the interval of our profile) in the hours before now. */
const recorded = (hours: number, { time } = simulation): Fix[] =>
  Array.from({ length: hours * 120 }, (_, i) => ({
    lat: 24 + i * 0.0004,
    lng: 120.7,
    ms: time.nowMs - hours * HOUR_MS + i * 30 * SECOND_MS,
    speedMs: 1.4,
  }))
const timesOf = (fixes: readonly Fix[]): number[] => fixes.map(({ ms }) => ms)

test.each([8, 24])('the points of %d hours arrive in one burst, and every point is stored', async (hours) => {
  const userId = newPilgrimId()
  const { key } = await simulation.newTracker(userId)
  const fixes = recorded(hours)
  const forgotten = sendJobs(simulation, key, fixes.map(gpsLogger))
  await simulation.time.run(simulation.time.nowMs + 10 * MINUTE_MS)
  expect(forgotten).toHaveLength(0)
  expect(await simulation.storedMs(userId)).toEqual(timesOf(fixes))
})

test('a burst does not make another pilgrim wait', async () => {
  const [one, other] = [newPilgrimId(), newPilgrimId()]
  const [mine, theirs] = [await simulation.newTracker(one), await simulation.newTracker(other)]
  const burst = recorded(8).map((fix) => simulation.send(mine.key, gpsLogger(fix)))
  const [fix] = recorded(1) as [Fix]
  let answered = 0
  for (const request of burst) void request.then(() => answered++)
  const { status } = await simulation.send(theirs.key, gpsLogger(fix))
  expect(status).toBe(200)
  await Promise.all(burst)
  expect(answered).toBe(960)
  expect(await simulation.storedMs(other)).toEqual([fix.ms])
})

test('a CSV file arrives whole although each attempt begins with the first point', async () => {
  const userId = newPilgrimId()
  const { key } = await simulation.newTracker(userId)
  const fixes = recorded(8)
  const attempts = sendFile(simulation, key, fixes.map(gpsLogger))
  await simulation.time.run(simulation.time.nowMs + 10 * MINUTE_MS)
  expect(attempts).toEqual([fixes.length])
  expect(await simulation.storedMs(userId)).toEqual(timesOf(fixes))
})

test('a point that is known uses up nothing of the limit', async () => {
  await using small = await openSimulation({ EVENT_LIMIT_INGEST: '60' })
  const userId = newPilgrimId()
  const { key } = await small.newTracker(userId)
  const fixes = recorded(2, small).slice(0, 200)
  const attempts = sendFile(small, key, fixes.map(gpsLogger))
  await small.time.run(small.time.nowMs + 10 * MINUTE_MS)
  expect(attempts).toEqual([60, 0, 120, 180])
  expect(await small.storedMs(userId)).toHaveLength(180)
})

/** A clock that is changed while offline, and old positions. */
import { expect, test } from 'bun:test'
import { ageOfPosition, type Clock, clockAfterJump } from '#proxy/pages/walk/session/clock-rules.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** The assumed lead of the clock after jumps, in minutes. */
const aheadAfter = (aheadMinutes: number, ...jumpsMs: number[]): number =>
  jumpsMs.reduce<Clock>(clockAfterJump, { aheadMs: aheadMinutes * MINUTE, spareMs: 0 }).aheadMs / MINUTE

test('a wrong clock that is set right counts as right, also after the phone has slept', () => {
  expect(aheadAfter(60, -HOUR)).toBe(0)
  expect(aheadAfter(-60, HOUR)).toBe(0)
  expect(aheadAfter(60, 3 * HOUR, -HOUR)).toBe(0)
  expect(aheadAfter(24 * 60, -DAY + MINUTE)).toBe(1)
  // Asleep for five minutes while it was changed.
  expect(aheadAfter(60, -55 * MINUTE)).toBe(5)
  expect(aheadAfter(60, -90 * MINUTE)).toBe(-30)
})

test('a right clock that is set back counts as slow, and as right again after that', () => {
  expect(aheadAfter(0, -HOUR)).toBe(-60)
  expect(aheadAfter(0, -DAY)).toBe(-24 * 60)
  expect(aheadAfter(0, -HOUR, HOUR)).toBe(0)
  expect(aheadAfter(-60, -HOUR)).toBe(-120)
})

test('sleep changes nothing, nor does a clock that is set ahead and back', () => {
  expect(aheadAfter(0, 8 * HOUR)).toBe(0)
  expect(aheadAfter(60, 8 * HOUR)).toBe(60)
  expect(aheadAfter(-60, 8 * HOUR)).toBe(-60)
  expect(aheadAfter(0, HOUR, -HOUR)).toBe(0)
  expect(aheadAfter(0, DAY, -DAY)).toBe(0)
  expect(aheadAfter(0, HOUR, -2 * HOUR)).toBe(-60)
})

const T = Date.UTC(2026, 3, 1, 2)
const aged = (ageMs: number, atMs = T) => ({ timestamp: atMs - ageMs, ageMs })

test('a position is dated by its age, whichever clock tells it', () => {
  expect(ageOfPosition(aged(0), 0, null)).toBe(0)
  expect(ageOfPosition(aged(90_000), 0, null)).toBe(90_000)
  // The clock is an hour fast, satellite time is not.
  expect(ageOfPosition(aged(HOUR + 5_000), HOUR, null)).toBe(5_000)
  expect(ageOfPosition(aged(5_000), HOUR, null)).toBe(5_000)
  expect(ageOfPosition(aged(-HOUR), -HOUR, null)).toBe(0)
  // A slow clock that is not known to be slow.
  expect(ageOfPosition(aged(-HOUR), 0, null)).toBe(0)
})

test('an old position is no position, also the second time, and the one after it is', () => {
  const old = aged(29 * MINUTE)
  expect(ageOfPosition(old, 0, null)).toBeNull()
  expect(ageOfPosition({ ...old, ageMs: old.ageMs + 5_000 }, 0, old)).toBeNull()
  expect(ageOfPosition(aged(1_000, T + 5_000), 0, old)).toBe(1_000)
  expect(ageOfPosition(aged(20 * MINUTE, T + 5_000), 0, old)).toBeNull()
  expect(ageOfPosition(aged(29 * MINUTE), HOUR, null)).toBeNull()
})

test('positions that are all as old come from a clock that is wrong: the second one counts', () => {
  const first = aged(HOUR)
  expect(ageOfPosition(first, 0, null)).toBeNull()
  expect(ageOfPosition(aged(HOUR + 800, T + 1_000), 0, first)).toBe(0)
})

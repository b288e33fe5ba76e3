/** A time that is early by a cycle of GPS weeks is corrected, and no other time. */
import { expect, test } from 'bun:test'
import { withoutRollover } from '#shared/core/rules/week-rollover.ts'

const at = (day: string): number => Date.parse(`${day}T08:00:00Z`)

test('a time of 7,168 days ago is corrected where that makes it plausible', () => {
  const corrected = (day: string): string =>
    new Date(withoutRollover(at(day), at('2026-04-01'), at('2026-05-01'))).toISOString().slice(0, 10)
  expect(corrected('2006-08-27')).toBe('2026-04-12')
  // Both ends are included.
  expect(corrected('2006-08-16')).toBe('2026-04-01')
  expect(corrected('2006-09-15')).toBe('2026-05-01')
  // Too old but not by a cycle; plausible; or in the future.
  for (const day of ['2006-08-15', '2006-09-16', '2026-03-31', '2026-04-12', '2099-12-31'])
    expect(corrected(day)).toBe(day)
})

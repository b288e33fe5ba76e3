import { expect, test } from 'bun:test'
import { roundKg, roundKm, roundKmOfRow } from '#shared/core/rules/rounding.ts'

test.each([
  [0, 0],
  [9_999, 0],
  [10_000, 0.01],
  [19_999, 0.01],
  [999_999_999, 999.99],
  [1_000_000_000, 1_000],
  [123_456_789_012, 123_456.78],
])('%d mm are shown as %p km', (mm, km) => expect(roundKm(mm)).toBe(km))

test.each([
  [0, 0],
  [499, 0],
  [500, 0.001],
  [1_499, 0.001],
  [999_999_499, 999.999],
  [999_999_500, 1_000],
  [123_456_789_012, 123_456.789],
])('%d mg are shown as %p kg', (mg, kg) => expect(roundKg(mg)).toBe(kg))

test.each([
  [499, 0],
  [500, 0.001],
  [9_999, 0.01],
  [123_456_789_012, 123_456.789],
])('%d mm of a row are %p km', (mm, km) => expect(roundKmOfRow(mm)).toBe(km))

test('the hours of an event are as far as its days', () => {
  const hours = Array.from({ length: 24 * 9 }, (_, i) => 400_000_000 + i * 987_654)
  const sum = (figures: readonly number[]) => figures.reduce((all, one) => all + one, 0)
  const all = sum(hours)
  expect(Math.abs(sum(hours.map(roundKmOfRow)) - all / 1e6)).toBeLessThan(0.05)
  expect(all / 1e6 - sum(hours.map(roundKm))).toBeGreaterThan(0.5)
})

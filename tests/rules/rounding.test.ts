import { expect, test } from 'bun:test'
import { roundKg, roundKm } from '#shared/rules/rounding.ts'

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

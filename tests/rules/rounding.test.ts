import { expect, test } from 'bun:test'
import { roundKg, roundKm } from '#shared/rules/rounding.ts'

test.each([
  [0, 0],
  [4_999, 0],
  [5_000, 0.01],
  [14_999, 0.01],
  [999_994_999, 999.99],
  [999_995_000, 1_000],
  [123_456_789_012, 123_456.79],
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

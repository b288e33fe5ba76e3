/** Number formats, and carbon amounts in a unit that does not round them to nothing. */
import { expect, test } from 'bun:test'
import { carbonIn, figure } from '#shared/locales/units.ts'

test.each([
  [0, '0'],
  [0.04, '0'],
  [0.05, '0'],
  [7, '7'],
  [9.94, '9.9'],
  [4.1, '4.1'],
  [9.99, '9.9'],
  [10, '10'],
  [75.76, '75'],
  [-9.94, '-9.9'],
  [-0.026, '0'],
  [39_337.4, '39,337'],
])('%d is written %s', (value, text) => expect(figure(value)).toBe(text))

const inChinese = (kg: number): string => Object.values(carbonIn('zh-Hant', kg)).join(' ')

test.each([
  [0, '0 公斤'],
  [0.000_4, '0.4 公克'],
  [0.016, '16 公克'],
  [0.999_4, '999 公克'],
  [0.999_6, '999 公克'],
  [1, '1 公斤'],
  [1.234, '1.2 公斤'],
  [12.34, '12 公斤'],
  [12_345.6, '12,345 公斤'],
  [-0.016, '-16 公克'],
])('%d kg', (kg, text) => expect(inChinese(kg)).toBe(text))

test('each language has its own units', () => {
  expect((['zh-Hans', 'en', 'ja'] as const).map((one) => carbonIn(one, 0.016).unit)).toEqual(['克', 'g', 'g'])
})

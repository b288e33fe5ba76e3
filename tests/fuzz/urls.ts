/** Values and names in paths and queries. */
import fc from 'fast-check'
import { KEYS, TIMES } from './edges.ts'
import { hostileText } from './json.ts'
import { userId } from './schema.ts'

const LISTS = [
  'surveys',
  'audit',
  'roles',
  'feedback',
  'board',
  'users:userId:asc',
  'users:km:desc',
  'users:last_seen:desc',
]
/** Forged cursors with the structure of real ones. */
export const cursor = fc
  .tuple(
    fc.constantFrom(...LISTS),
    fc.array(fc.oneof(hostileText, fc.integer(), fc.double()), { maxLength: 3 }),
  )
  .map((parts) => Buffer.from(JSON.stringify(parts.flat())).toString('base64url'))

const percent = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed())
/** A value in a URL: properly encoded, byte by byte, or as invalid UTF-8. */
export const inUrl = (value: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 12, arbitrary: value.map(encoded) },
    { weight: 3, arbitrary: hostileText.map(encoded) },
    { weight: 1, arbitrary: fc.constantFrom(...TIMES).map(encoded) },
    { weight: 1, arbitrary: hostileText.map((text) => percent(text.slice(0, 300))) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '%',
        '%zz',
        '%ff',
        '%00',
        '%c0%af',
        '%ed%a0%80',
        '%u0041',
        '+',
        '%2f',
        '%5c',
      ),
    },
  )

export const file = fc.oneof(
  userId.map((id) => `${id}.png`),
  fc.constantFrom(
    `${'a'.repeat(32)}.png`,
    '.png',
    'x',
    '..png',
    'x.PNG',
    'x.png.png',
    'x.png%00.jpg',
    '%2e%2e.png',
  ),
)

/** An unexpected parameter name. */
export const queryKey = fc.oneof(
  fc.constantFrom(...KEYS, '%00', '%ed%a0%80', '', '%', '&', 'x'.repeat(3_000)),
  hostileText.map((text) => encoded(text.slice(0, 300))),
)

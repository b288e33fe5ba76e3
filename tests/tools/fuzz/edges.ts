/** Boundary values: times that only some stores support, invalid addresses, special keys. */
import fc from 'fast-check'

/** Times as text: the limits of calendars, columns and clocks, with offsets that cross them. */
export const TIMES = [
  '0000-01-01T00:00:00Z',
  '0000-01-01T00:00:00+14:00',
  '0000-12-31T23:59:59.999-12:00',
  '0001-01-01T00:00:00Z',
  '0001-01-01T00:00:00+14:00',
  '0099-12-31T23:59:59Z',
  '1582-10-10T00:00:00Z',
  '1899-12-31T23:59:59Z',
  '1969-12-31T23:59:59.999Z',
  '1970-01-01T00:00:00Z',
  '1970-01-01T00:00:00+23:59',
  '2000-02-29T24:00:00Z',
  '2016-12-31T23:59:60Z',
  '2026-02-29T00:00:00Z',
  '2038-01-19T03:14:08Z',
  '2999-12-31T23:59:59.999Z',
  '3000-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '9999-12-31T23:59:59-00:01',
  '9999-12-31T23:59:59-12:00',
  '9999-12-31T23:59:59-23:59',
  '9999-12-31T23:59:59.999999999Z',
  '10000-01-01T00:00:00Z',
  '+010000-01-01T00:00:00Z',
  '-000001-01-01T00:00:00Z',
  '-271821-04-20T00:00:00Z',
  '+275760-09-13T00:00:00.000Z',
  '0000:00:00 00:00:00',
  '9999:12:31 23:59:59',
  '2026-04-12',
  '2026-04-12T10:00',
  'infinity',
  'now',
] as const

/** Times as epoch numbers: seconds, milliseconds, and values beyond the range of clocks and columns. */
export const EPOCHS = [
  0,
  -1,
  1,
  0x69db18c0,
  0x7fffffff,
  0x80000000,
  4294967296,
  3250368e7,
  -621355968e5,
  -0x3883122cd801,
  -0x388a6f046001,
  -0xbfc840e65001,
  0xe677d21fdbff,
  2534023008e5,
  864e13,
  864e13 + 1,
  -864e13,
  -864e13 - 1,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
  93e14,
  1e20,
  1e308,
  0.5,
] as const

/** Invalid addresses, and addresses with a special meaning for a component behind the service. */
export const URLS = [
  'javascript:alert(1)',
  'JavaScript:alert(1)',
  ' javascript:alert(1)',
  'java\nscript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  'file:///etc/passwd',
  'blob:https://a/1',
  'http://a.example/x',
  'ftp://a.example/x',
  '//a.example/x',
  '/x',
  'a.example',
  'https:',
  'https://',
  'https:a.example',
  'https:/a.example',
  'https:\\\\a.example',
  'https://[::1',
  'https://[::1]/x',
  'https://127.0.0.1:1/',
  'https://a.example:99999/',
  'https://user:secret@a.example/',
  'https://a b/',
  'https://a.example/\0x',
  'https://a/\0',
  'https://a/\ud800',
  'https://\ud800/',
  'https://a/\r\nx',
  'https://媽祖.example/圖.png',
  'https://a.example/%00',
  'https://a.example/%zz',
  'HTTPS://A.EXAMPLE/X',
  'https://a.example/"onerror=alert(1)',
  "https://a.example/'",
  `https://a.example/${'x'.repeat(2e3)}`,
] as const

/** Pieces that make any text invalid or dangerous. */
const PIECES = [
  '\u0000',
  '\ud800',
  '\udc00',
  '\u0007',
  '\u007f',
  '\r\n',
  '\t',
  ' ',
  '\u2028',
  '\ufeff',
  '\u202e',
]
const MARKS = [
  '%00',
  '\\',
  '"',
  "'",
  '$',
  '_',
  '.',
  '[',
  '😀',
  '\u0300'.repeat(80),
  'x'.repeat(70),
  'x'.repeat(9_000),
]

/** One piece and where it is inserted. */
export interface Graft {
  readonly piece: string
  readonly at: 'start' | 'middle' | 'end'
}
export const graft: fc.Arbitrary<Graft> = fc.record({
  piece: fc.oneof(fc.constantFrom(...PIECES), fc.constantFrom(...MARKS)),
  at: fc.constantFrom('start', 'middle', 'end'),
})

/** A valid text with one inserted piece. */
export function grafted(text: string, { piece, at }: Graft): string {
  const place = at === 'start' ? 0 : at === 'end' ? text.length : text.length >> 1
  return text.slice(0, place) + piece + text.slice(place)
}

/** Mostly valid values, some spoilt, some boundary values. */
export const spoilt = (right: fc.Arbitrary<string>, edges: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 5, arbitrary: right },
    { weight: 1, arbitrary: fc.tuple(right, graft).map(([text, one]) => grafted(text, one)) },
    { weight: 3, arbitrary: fc.constantFrom(...edges) },
  )

/** Names with a special meaning in a programming language. */
export const KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'then',
  'toJSON',
  'length',
]

/** Sizes of a swarm of members: more than a form has questions, up to the limit of a body. */
export const SWARMS = [101, 1_000, 6_000] as const

/** JSON whose long strings are truncated while it is received. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createStringShortener } from '#shared/service/http/shorten-strings.ts'

const MOST = 4_096

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc
    .tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 5 }), fc.integer({ min: 800, max: 6_000 }))
    .map(([part, times]) => part.repeat(times)),
  fc.constantFrom('"', '\\', '\u2028', '/', '\\"').map((part) => part.repeat(MOST + 1)),
)
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(null, true),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.string({ maxLength: 8 }), tie('value'), { maxKeys: 3 }),
  ),
})).value

/** As some serializers write it: ASCII only, and with escaped slashes. */
const WRITERS = [
  (value: unknown) => JSON.stringify(value),
  (value: unknown) => JSON.stringify(value, null, 1).replaceAll('/', String.raw`\/`),
  (value: unknown) =>
    JSON.stringify(value).replaceAll(
      /[^ -~]/g,
      (unit) => String.raw`\u` + unit.charCodeAt(0).toString(16).padStart(4, '0'),
    ),
]

function shorten(written: string, partBytes: number): string {
  const bytes = Buffer.from(written)
  const shortener = createStringShortener()
  const parts: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += partBytes)
    parts.push(shortener(new Uint8Array(bytes.subarray(at, at + partBytes))).slice())
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts))
}

/** Checks each string to be a prefix of the sent one. */
function expectPrefixes(shortened: unknown, sent: unknown): void {
  if (typeof sent === 'string') {
    expect(sent.startsWith(shortened as string)).toBeTrue()
    if (Buffer.byteLength(JSON.stringify(sent)) < MOST / 6) expect(shortened).toBe(sent)
    expect(Buffer.byteLength(shortened as string)).toBeLessThanOrEqual(MOST + 12)
  } else if (typeof sent === 'object' && sent !== null) {
    expect(Object.keys(shortened as object)).toEqual(Object.keys(sent))
    for (const [key, value] of Object.entries(sent)) expectPrefixes(Object(shortened)[key], value)
  } else expect(shortened).toEqual(sent)
}

test('whatever the JSON, its writer and its parts, it stays valid and only long strings lose their ends', () => {
  fc.assert(
    fc.property(
      json,
      fc.constantFrom(...WRITERS),
      fc.integer({ min: 1, max: 9_000 }),
      (sent, write, part) => {
        const written = write(sent)
        expectPrefixes(JSON.parse(shorten(written, part)), JSON.parse(written))
      },
    ),
    { numRuns: 150 },
  )
})

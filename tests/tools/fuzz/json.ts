/** Hostile JSON: numbers and keys that no serializer writes, at any position of a value. */
import fc from 'fast-check'
import { EPOCHS, type Graft, graft, grafted, KEYS, SWARMS, TIMES, URLS } from './edges.ts'

/** Text that is written to the document unchanged. */
export class Raw {
  constructor(readonly text: string) {}
}

/** An object as a list of members, so that keys can be repeated or be `__proto__`. */
export class Members {
  constructor(readonly entries: readonly (readonly [string, unknown])[]) {}
}

/** Writes a value with its raw parts. */
export function writeJson(value: unknown): string {
  if (value instanceof Raw) return value.text
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`
  if (value instanceof Members)
    return `{${value.entries.map(([key, one]) => `${JSON.stringify(key)}:${writeJson(one)}`).join(',')}}`
  if (typeof value === 'object' && value !== null) return writeJson(new Members(Object.entries(value)))
  return JSON.stringify(value) ?? 'null'
}

const NUMBERS = [
  '1e308',
  '-1e308',
  '1e999',
  '-1e999',
  '-0',
  '1e-400',
  '9007199254740993',
  '-9007199254740993',
  '2147483648',
  '-2147483649',
  '9223372036854775808',
  '8640000000000001',
  '1.0000000000000001',
  '5e-324',
  '9'.repeat(400),
]
/** Invalid JSON. */
const NOT_JSON = [
  'NaN',
  'Infinity',
  '-Infinity',
  'undefined',
  '01',
  '+1',
  '0x10',
  '1.',
  '.5',
  "'a'",
  '',
  '"\u0001"',
]

/** Strings with a special meaning in SQL, shells, browsers, spreadsheets, terminals or templates. */
export const STRINGS = [
  '',
  ' ',
  '	',
  '0',
  '-1',
  '1e999',
  'NaN',
  'null',
  'undefined',
  'true',
  '[]',
  '{}',
  '[object Object]',
  '\0',
  'a\0b',
  '\ud800',
  'a\udc00b',
  '\udfff\ud800',
  '﻿',
  '‮a',
  '\u2028',
  '\x1B[2J',
  '31m',
  "' OR 1=1 --",
  "'; DROP TABLE pilgrims; --",
  '\\',
  "\\'",
  '$1',
  '%',
  '_',
  '%s%n',
  '${jndi:ldap://x}',
  '{{7*7}}',
  '`id`',
  '=1+1',
  '@SUM(A1)',
  '+1',
  '-1+1',
  '\r=1',
  '"',
  '<script>alert(1)</script>',
  ']]>',
  '&amp;',
  '<!--',
  '../../etc/passwd',
  '/etc/passwd',
  'file:///etc/passwd',
  'http://127.0.0.1:1/',
  'javascript:alert(1)',
  '//x',
  'a\r\nSet-Cookie: a=b',
  '\n{"level":"error"}',
  'constructor',
  '__proto__',
  'toString',
  'hasOwnProperty',
  '😀',
  '👨‍👩‍👧‍👦',
  '﷽',
  'ﬃ',
  'İ',
  'ß',
  'é'.repeat(60),
  '̀'.repeat(200),
  '媽祖',
  'مرحبا',
  'x'.repeat(5e3),
  '9'.repeat(400),
  '2026-02-30T10:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  '0000-00-00T00:00:00Z',
  '24:00',
]

const loneSurrogates = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
  .map((units) => String.fromCharCode(...units))

const nested = fc
  .tuple(fc.constantFrom('[', '{"a":'), fc.constantFrom(50, 1_000, 9_000, 16_000))
  .map(([open, depth]) => new Raw(open.repeat(depth) + '1' + (open === '[' ? ']' : '}').repeat(depth)))

const long = fc
  .tuple(fc.constantFrom('1', '""', 'null', '{}', '[]', '1e9'), fc.constantFrom(51, 201, 5_001, 10_000))
  .map(([item, length]) => new Raw(`[${Array(length).fill(item).join(',')}]`))

/** An unexpected string. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...STRINGS) },
  { weight: 1, arbitrary: fc.constantFrom(...TIMES) },
  { weight: 1, arbitrary: fc.constantFrom(...URLS) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
  { weight: 1, arbitrary: loneSurrogates },
)

/** An unexpected value. */
export const hostile: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: hostileText },
  { weight: 4, arbitrary: fc.constantFrom(...NUMBERS).map((text) => new Raw(text)) },
  { weight: 1, arbitrary: fc.constantFrom(...EPOCHS) },
  { weight: 1, arbitrary: fc.constantFrom(...NOT_JSON).map((text) => new Raw(text)) },
  { weight: 3, arbitrary: fc.constantFrom<unknown>(null, true, false, 0, -1, 1, 0.5, {}, [], [[]], [null]) },
  { weight: 2, arbitrary: fc.oneof(fc.double(), fc.integer(), fc.maxSafeInteger()) },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: nested },
  { weight: 1, arbitrary: long },
)

/** Changes of a value, of its member, or of the object itself. */
const OF_MEMBERS = ['remove', 'twice', 'rename', 'wrap', 'spoil', 'spoil-key'] as const
const OF_OBJECTS = ['proto', 'add', 'swarm'] as const

/** One change of a document: the position (an index of its values), the kind, and the new value. */
export interface Mutation {
  readonly place: number
  readonly kind: 'replace' | (typeof OF_MEMBERS)[number] | (typeof OF_OBJECTS)[number]
  readonly value: unknown
  readonly key: string
  /** Inserted into a valid text or key. */
  readonly graft: Graft
  /** Members that a swarm adds. */
  readonly swarm: number
}

export const mutation: fc.Arbitrary<Mutation> = fc.record({
  place: fc.nat(200),
  kind: fc.oneof(
    { weight: 6, arbitrary: fc.constant('replace' as const) },
    { weight: 4, arbitrary: fc.constantFrom('spoil', 'spoil-key') },
    { weight: 4, arbitrary: fc.constantFrom(...OF_MEMBERS, ...OF_OBJECTS) },
  ),
  value: hostile,
  key: fc.oneof(
    { weight: 3, arbitrary: hostileText },
    { weight: 1, arbitrary: fc.constantFrom(...KEYS, 'x'.repeat(90_000)) },
  ),
  graft,
  swarm: fc.constantFrom(...SWARMS),
})

/** Number of positions in a value: itself and all nested values. */
const placesIn = (value: unknown): number =>
  value instanceof Members
    ? value.entries.reduce((sum, [, one]) => sum + placesIn(one), 1)
    : Array.isArray(value)
      ? value.reduce<number>((sum, one) => sum + placesIn(one), 1)
      : 1

/** Converts every object to its members. */
function opened(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(opened)
  if (typeof value !== 'object' || value === null || value instanceof Raw || value instanceof Members)
    return value
  return new Members(Object.entries(value).map(([key, one]) => [key, opened(one)]))
}

const PROTO = new Members([
  ['isAdmin', true],
  ['level', 3],
])

/** Changes one member. @returns none, one or two members */
function changed([key, value]: readonly [string, unknown], change: Mutation) {
  const { kind, value: other, key: name } = change
  if (kind === 'remove') return []
  if (kind === 'rename') return [[name, value] as const]
  if (kind === 'twice') return [[key, value] as const, [key, other] as const]
  if (kind === 'wrap') return [[key, [value]] as const]
  if (kind === 'spoil-key') return [[grafted(key, change.graft), value] as const]
  if (kind === 'spoil' && typeof value === 'string') return [[key, grafted(value, change.graft)] as const]
  return [[key, other] as const]
}

/** Many small members, like the existing ones or under the given key. */
function swarming({ entries }: Members, { key, swarm, value }: Mutation): Members {
  const [name, given] = entries.at(-1) ?? [key.slice(0, 20), value]
  const like = typeof given === 'object' ? 1 : given
  const more = Array.from({ length: swarm }, (_, i) => [`${name}_${i}`, like] as const)
  return new Members([...entries, ...more])
}

function mutatedAt(value: unknown, place: number, change: Mutation): unknown {
  if (place === 0) {
    if (value instanceof Members && change.kind === 'proto')
      return new Members([...value.entries, ['__proto__', PROTO], ['constructor', { prototype: PROTO }]])
    if (value instanceof Members && change.kind === 'add')
      return new Members([...value.entries, [change.key, change.value]])
    if (value instanceof Members && change.kind === 'swarm') return swarming(value, change)
    return change.kind === 'wrap' ? [value] : change.value
  }
  let left = place - 1
  const entries: (readonly [string, unknown])[] = []
  const members =
    value instanceof Members ? value.entries : (value as unknown[]).map((one) => ['', one] as const)
  for (const member of members) {
    const size = placesIn(member[1])
    const inside = left >= 0 && left < size
    if (!inside) entries.push(member)
    else if (left === 0 && !(OF_OBJECTS as readonly string[]).includes(change.kind))
      entries.push(...changed(member, change))
    else entries.push([member[0], mutatedAt(member[1], left, change)])
    left -= size
  }
  return value instanceof Members ? new Members(entries) : entries.map(([, one]) => one)
}

/** @returns the changed document */
export function mutate(document: unknown, changes: readonly Mutation[]): unknown {
  let value = opened(document)
  for (const change of changes) value = mutatedAt(value, change.place % placesIn(value), change)
  return value
}

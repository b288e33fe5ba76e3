/** Values that a JSON Schema allows, so that hostile parts pass the first check. */
import fc from 'fast-check'
import { EPOCHS, graft, grafted, KEYS, spoilt, TIMES, URLS } from './edges.ts'
import { hostile, STRINGS } from './json.ts'

export interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly propertyNames?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly pattern?: string
  readonly format?: string
}

/** Number of app pilgrims. */
export const APP_IDS = 40
/** An id in the app's format, which gives access to its pilgrim's own data. */
export const appId = (n: number): string => `w-${String(n).padStart(26, '0')}`

/**
 * Mostly a new pilgrim (`fuzz-…`); sometimes one used by many requests, one reachable by messages, or an app
 * pilgrim.
 */
export const userId = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .noShrink(fc.noBias(fc.bigInt({ min: 0n, max: 2n ** 90n })))
      .map((n) => `fuzz-${n.toString(36)}`),
  },
  { weight: 1, arbitrary: fc.nat(30).map((n) => `shared-${n}`) },
  { weight: 1, arbitrary: fc.nat(APP_IDS - 1).map(appId) },
  { weight: 1, arbitrary: fc.nat(5).map((n) => `U${String(n).padStart(32, '0')}`) },
)

const someTime = fc
  .integer({ min: -40 * 86_400, max: 2 * 86_400 })
  .map((s) => new Date(Date.now() + s * 1_000))
const written = spoilt(
  someTime.map((at) => at.toISOString()),
  TIMES,
)
/** Texts that are, or nearly are, keys of every object. */
const names = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 30 }), fc.constantFrom(...KEYS, ...STRINGS))
const languages = fc.constantFrom('zh-TW', 'zh_Hant', 'en-US', 'ja', 'x-y', 'en-', '-', 'valueOf', ...KEYS)
const days = spoilt(
  someTime.map((at) => at.toISOString().slice(0, 10)),
  ['0000-01-01', '0001-01-01', '9999-12-31', '2026-02-29', '10000-01-01', '-000001-01-01'],
)
/** Epoch milliseconds, as LINE and phones send them. */
export const epoch = fc.oneof(
  { weight: 4, arbitrary: someTime.map(Number) },
  { weight: 1, arbitrary: fc.constantFrom(...EPOCHS) },
)
const sentTime = fc.oneof(written, epoch)
export const url = spoilt(fc.webUrl({ validSchemes: ['https'] }), URLS)
const point = fc.record(
  {
    lat: fc.double({ min: -90, max: 90, noNaN: true }),
    lng: fc.double({ min: -180, max: 180, noNaN: true }),
    timestamp: sentTime,
    mode: fc.constantFrom('walk', 'bus', 'rocket', ...KEYS),
    accuracy: fc.double({ min: 0, max: 100, noNaN: true }),
  },
  { requiredKeys: ['lat', 'lng', 'timestamp'] },
)
const points = fc.array(fc.oneof({ weight: 3, arbitrary: point }, { weight: 1, arbitrary: hostile }), {
  minLength: 1,
  maxLength: 20,
})

/** Values for rules that a schema cannot express, by field name. */
const NAMED: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  user_id: userId,
  userId,
  user_ids: fc.array(userId, { minLength: 1, maxLength: 5 }),
  display_name: names,
  line_display_name: names,
  label: names,
  language: languages,
  lang: languages,
  timestamp: sentTime,
  picture_url: url,
  screenshot_url: url,
  image_url: url,
  // A Web Push device: a point on the curve, and an address allowed by the fuzzed service's settings.
  p256dh: fc.constant(
    'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  ),
  endpoint: spoilt(
    fc.uuid().map((id) => `https://127.0.0.1:9/${id}`),
    URLS,
  ),
  points,
  track_points: points,
  gps_points: points,
  phone: fc.constantFrom('+886 912 345 678', '0912345678', null, ''),
  bbox: fc.constantFrom('120,22,122,25', '-180,-90,180,90', '0,0,0,0'),
  limit: fc.constantFrom('1', '2', '50', '200'),
}

const ofType: Readonly<Record<string, (schema: Schema) => fc.Arbitrary<unknown>>> = {
  null: () => fc.constant(null),
  boolean: () => fc.boolean(),
  integer: ({ minimum = -1_000, maximum = 1_000 }) =>
    fc.integer({ min: Math.max(minimum, -(2 ** 31)), max: Math.min(maximum, 2 ** 31 - 1) }),
  number: ({ minimum = -1e9, maximum = 1e9 }) => fc.double({ min: minimum, max: maximum, noNaN: true }),
  string: stringOf,
  array: ({ items = {}, minItems = 0, maxItems = 6 }) =>
    fc.array(fromSchema(items), { minLength: minItems, maxLength: Math.min(maxItems, minItems + 5) }),
  object: objectOf,
}

function stringOf({ format, pattern, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<string> {
  if (format === 'date-time') return written
  if (format === 'date') return days
  if (format === 'uuid') return fc.uuid()
  if (format === 'uri') return url
  if (pattern !== undefined)
    return fc.stringMatching(new RegExp(pattern), {
      // A pattern may require more of one kind.
      maxLength: Math.max(
        Math.min(maxLength, 12),
        ...[...pattern.matchAll(/\{(\d+)/g)].map(([, n]) => Number(n)),
      ),
    })
  return fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 40) })
}

/** The keys of the schema, two in seven of them spoilt. */
const keyOf = (names: Schema): fc.Arbitrary<string> => {
  const right = fromSchema(names) as fc.Arbitrary<string>
  return fc.oneof(
    { weight: 5, arbitrary: right },
    { weight: 1, arbitrary: fc.constantFrom(...KEYS) },
    { weight: 1, arbitrary: fc.tuple(right, graft).map(([key, one]) => grafted(key, one)) },
  )
}

function objectOf({
  properties,
  required = [],
  propertyNames,
  additionalProperties,
}: Schema): fc.Arbitrary<unknown> {
  if (properties === undefined)
    return fc.dictionary(
      keyOf(propertyNames ?? { type: 'string' }),
      typeof additionalProperties === 'object' ? fromSchema(additionalProperties) : hostile,
      { maxKeys: 5 },
    )
  const fields = Object.entries(properties).map(([name, schema]) => [name, NAMED[name] ?? fromSchema(schema)])
  return fc.record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>, {
    requiredKeys: [...required],
  })
}

/** Values that the schema allows. */
export function fromSchema(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(fromSchema))
  const types = typeof schema.type === 'string' ? [schema.type] : schema.type
  if (types === undefined) return hostile
  return fc.oneof(...types.map((type) => ofType[type]!(schema)))
}

/** Values of a parameter of the path or the query. */
export const parameter = (name: string, schema: Schema): fc.Arbitrary<string> =>
  (NAMED[name] ?? fromSchema(schema)).map(String)

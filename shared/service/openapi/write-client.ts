/** Writes what `shared/client` needs of the API: the types of every operation, and a table of how to call each one. */
import type { Content, Document, Operation } from './examples.ts'
import type { Schema } from './named-schemas.ts'
import { EVENTS, JSON_MEDIA } from './operations.ts'
import { actsForPilgrim, type Endpoint } from '#shared/contracts/endpoint.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { ACCESS_LEVEL } from '#shared/service/security/admin-auth.ts'
import { openApiDocument, operationIn, templateOf } from './openapi-document.ts'

/** Optional fields of an input may be undefined, because JSON omits them; an answer has no undefined. */
type Use = 'input' | 'answer'

const REFERENCE = '#/components/schemas/'
const SIMPLE: Record<string, string> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
}

const propertyName = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))

const literal = (value: unknown): string =>
  typeof value === 'string' ? `'${value.replaceAll(/['\\]/g, '\\$&')}'` : JSON.stringify(value)

/** A union of types, each named once. */
function union(types: readonly string[]): string {
  const distinct = [...new Set(types)]
  return distinct.includes('unknown') ? 'unknown' : distinct.join(' | ')
}

/** A type as a part of another: a compound type gets parentheses. */
function partOf(schema: Schema, use: Use): string {
  const type = typeOf(schema, use)
  const { enum: values, anyOf, oneOf, allOf } = schema
  const isCompound = (values ?? anyOf ?? oneOf ?? allOf) !== undefined || Array.isArray(schema.type)
  return isCompound && /[|&]/.test(type) ? `(${type})` : type
}

/** @throws Error for a reference to an unnamed schema */
function typeOf(schema: Schema, use: Use = 'answer'): string {
  const { $ref, enum: values, anyOf, oneOf, allOf, type, items = {}, prefixItems } = schema
  const each = (all: readonly Schema[]) => all.map((member) => typeOf(member, use))
  if ($ref !== undefined) return nameOf($ref)
  if (schema.const !== undefined) return literal(schema.const)
  if (values !== undefined) return union(values.map(literal))
  const alternatives = anyOf ?? oneOf
  if (alternatives !== undefined) return union(each(alternatives))
  if (allOf !== undefined) return allOf.map((member) => partOf(member, use)).join(' & ')
  if (Array.isArray(type)) return union(each(type.map((name: string) => ({ ...schema, type: name }))))
  if (type === 'object') return objectOf(schema, use)
  if (type !== 'array') return SIMPLE[type as string] ?? 'unknown'
  return prefixItems === undefined ? `${partOf(items, use)}[]` : `[${each(prefixItems).join(', ')}]`
}

function nameOf(reference: string): string {
  if (!reference.startsWith(REFERENCE)) throw new Error(`${reference} is not one of ${REFERENCE}`)
  return reference.slice(REFERENCE.length)
}

/** The schemas that a part of the document refers to, directly or indirectly. */
function namesIn(
  part: unknown,
  schemas: Readonly<Record<string, Schema>>,
  found = new Set<string>(),
): Set<string> {
  for (const [reference] of JSON.stringify(part).matchAll(/#\/components\/schemas\/[^"]+/g)) {
    const name = nameOf(reference)
    if (found.has(name)) continue
    found.add(name)
    namesIn(schemas[name], schemas, found)
  }
  return found
}

const indented = (text: string): string => text.replaceAll('\n', '\n  ')

function objectOf({ properties = {}, required = [], additionalProperties: more }: Schema, use: Use): string {
  const lines = Object.entries(properties).flatMap(([name, property]) => {
    const type = typeOf(property, use)
    const isRequired = required.includes(name)
    const orUndefined = use === 'input' && !isRequired && type !== 'unknown' ? ' | undefined' : ''
    return [
      ...comment(property.description),
      `${propertyName(name)}${isRequired ? '' : '?'}: ${type}${orUndefined}`,
    ]
  })
  const any = typeof more === 'object' ? typeOf(more, use) : 'unknown'
  if (lines.length === 0) return more === false ? 'Record<string, never>' : `Record<string, ${any}>`
  // A named property may have another type than the additional ones, so only unknown can be beside it.
  if (typeof more === 'object') lines.push('[name: string]: unknown')
  return `{\n  ${indented(lines.join('\n'))}\n}`
}

const comment = (text: string | undefined): string[] =>
  text === undefined ? [] : [`/** ${text.replaceAll('*/', '* /').replaceAll(/\s+/g, ' ')} */`]

interface Call {
  readonly endpoint: Endpoint
  readonly operation: Operation
}

/** Tracker apps use their own formats and do not use this client. */
const isForTrackerApps = ({ path }: Endpoint): boolean => path.startsWith('/api/event/ingest/')

export function clientModule(): string {
  const { paths, components } = openApiDocument('the event') as unknown as Document
  const calls = ENDPOINTS.filter((endpoint) => !isForTrackerApps(endpoint))
    .map((endpoint): Call => ({ endpoint, operation: operationIn(paths, endpoint) }))
    .sort((a, b) => (a.endpoint.id < b.endpoint.id ? -1 : 1))
  const answers = calls.map(({ operation }) => operation.responses)
  const answered = namesIn(answers, components.schemas)
  return (
    [
      PREAMBLE,
      ...Object.entries(components.schemas).map(([name, schema]) =>
        named(name, schema, answered.has(name) ? 'answer' : 'input'),
      ),
      `/** Every operation: what it takes, and what it answers. */\nexport interface Operations {\n  ${indented(calls.flatMap(typesOf).join('\n'))}\n}`,
      `/** The data of the events of the operators' stream, by name. */\nexport interface StreamEvents ${typeOf(streamEvents(calls))}`,
      `/** How each operation is called: method, path with ~ for /api/event, and flags (see shared/service/openapi/write-client.ts). */\nexport const OPERATIONS = {\n${calls.map(({ endpoint }) => `  ${endpoint.id}: '${lineOf(endpoint)}',`).join('\n')}\n} as const`,
      '',
    ]
      .join('\n\n')
      .trimEnd() + '\n'
  )
}

function named(name: string, schema: Schema, use: Use): string {
  const type = typeOf(schema, use)
  const declaration =
    type.startsWith('{') && type.endsWith('}') && schema.type === 'object'
      ? `interface ${name} ${type}`
      : `type ${name} = ${type}`
  return [...comment(schema.description), `export ${declaration}`].join('\n')
}

const successOf = ({ endpoint, operation }: Call): Content =>
  operation.responses[endpoint.success]!.content ?? {}

const isStream = ({ endpoint }: Call): boolean => endpoint.media === EVENTS

/** The schema of a JSON body; undefined: the body has another form. */
const jsonBodyOf = ({ requestBody }: Operation): Schema | undefined => {
  const [first] = Object.entries(requestBody?.content ?? {})
  return first?.[0] === JSON_MEDIA ? first[1].schema : undefined
}

function typesOf(call: Call): string[] {
  if (isStream(call)) return []
  const { id, summary } = call.endpoint
  const lines = [`${id}: {`, `input: ${inputOf(call)}`, `data: ${dataOf(call)}`]
  return [...comment(summary), indented(lines.join('\n')), '}']
}

function inputOf({ endpoint, operation }: Call): string {
  const flags = flagsOf(endpoint)
  const listed = operation.parameters.filter(({ in: place }) => place === 'path' || place === 'query')
  const own: Schema = {
    type: 'object',
    properties: Object.fromEntries(
      listed.map(({ name, in: place, description, schema }) => [
        name,
        {
          ...schema,
          ...(description !== undefined && { description }),
          ...(place === 'query' && queryType(name, schema)),
        },
      ]),
    ),
    required: listed
      .filter(({ name, required }) => required && !(flags.includes('q') && name === 'user_id'))
      .map(({ name }) => name),
  }
  const parts = listed.length > 0 ? [typeOf(own, 'input')] : []
  const body = jsonBodyOf(operation)
  if (body !== undefined) {
    const type = typeOf(body, 'input')
    parts.push(flags.includes('b') ? `Caller<${type}>` : / \| /.test(type) ? `(${type})` : type)
  } else if (operation.requestBody !== undefined) parts.push('RawBody')
  return parts.length > 0 ? parts.join(' & ') : 'Nothing'
}

/** A query is text; numbers are written as such. A cursor has the type of `next_cursor`. */
function queryType(name: string, schema: Schema): Schema {
  if (name === 'cursor') return { type: ['string', 'null'] }
  return schema.type === 'string' && schema.enum === undefined ? { type: ['string', 'number'] } : {}
}

/** Whether the success is text other than JSON, such as a page. */
const isText = ({ media, otherMedia }: Endpoint): boolean =>
  [media ?? '', ...otherMedia].every((each) => each.startsWith('text/'))

function dataOf(call: Call): string {
  const { endpoint } = call
  const json = successOf(call)[JSON_MEDIA]?.schema
  if (json === undefined) return isText(endpoint) ? 'string' : 'Blob'
  return typeOf(endpoint.media === null ? json.properties!.data! : json)
}

/**
 * What a call needs besides its input: `a` the operator's token, `u` the pilgrim's ID token, `b` the pilgrim's id in
 * the body, `q` in the query, `h` in a header, `r` a raw body. The answer is JSON in the envelope; `j` JSON without it,
 * `t` text, `o` other bytes.
 */
function flagsOf(endpoint: Endpoint): string {
  const { access, bodyKind, caller, media, readsIdentity, sent } = endpoint
  const isPilgrims = ACCESS_LEVEL[access] === 0
  return [
    access === 'public' ? '' : 'a',
    isPilgrims && (caller !== 'none' || actsForPilgrim(endpoint) || readsIdentity) ? 'u' : '',
    isPilgrims && caller !== 'none' ? caller[0] : '',
    bodyKind === 'raw' && Object.keys(sent)[0] !== JSON_MEDIA ? 'r' : '',
    media === null ? '' : media === JSON_MEDIA ? 'j' : isText(endpoint) ? 't' : 'o',
  ].join('')
}

/** The client replaces `~` by `/api/event`: a page loads every byte of this table. */
const lineOf = (endpoint: Endpoint): string =>
  `${endpoint.method} ${templateOf(endpoint.path).replace(/^\/api\/event/, '~')} ${flagsOf(endpoint)}`.trimEnd()

function streamEvents(calls: readonly Call[]): Schema {
  const properties = successOf(calls.find(isStream)!)[EVENTS]?.schema.contentSchema?.properties ?? {}
  return { type: 'object', properties, required: Object.keys(properties) }
}

// The types that the client's generated interfaces refer to.

const PREAMBLE = `/** No field. */
export type Nothing = Record<never, never>

/** A pilgrim's request: \`user_id\` may be left to the client's identity. */
export type Caller<T> = T extends unknown ? Omit<T, 'user_id'> & { user_id?: string | undefined } : never

/** A body that is sent as it is: a picture, for example. */
export interface RawBody {
  body: Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | FormData | string
}`

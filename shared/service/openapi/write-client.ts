/**
 * Writes what `shared/client` knows of the API: the types of every operation, and a table of how each is called.
 */
import type { Schema } from './named-schemas.ts'
import { openApiDocument } from './openapi-document.ts'

/** What may be absent may be undefined in an input, because JSON and queries leave it out; an answer has no undefined. */
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

/** A type that several schemas may be, each named once. */
function union(types: readonly string[]): string {
  const distinct = [...new Set(types)]
  return distinct.includes('unknown') ? 'unknown' : distinct.join(' | ')
}

function partOf(schema: Schema, indent: string, use: Use): string {
  const type = typeOf(schema, indent, use)
  const { enum: values, anyOf, oneOf, allOf } = schema
  const isCompound = (values ?? anyOf ?? oneOf ?? allOf) !== undefined || Array.isArray(schema.type)
  return isCompound && /[|&]/.test(type) ? `(${type})` : type
}

/** @param indent spaces before the lines of an object @throws Error for a reference that is no named schema */
function typeOf(schema: Schema, indent = '', use: Use = 'answer'): string {
  const { $ref, enum: values, anyOf, oneOf, allOf, type } = schema
  if ($ref !== undefined) return nameOf($ref)
  if (schema.const !== undefined) return literal(schema.const)
  if (values !== undefined) return union(values.map(literal))
  const alternatives = anyOf ?? oneOf
  if (alternatives !== undefined) return union(alternatives.map((one) => typeOf(one, indent, use)))
  if (allOf !== undefined) return allOf.map((one) => partOf(one, indent, use)).join(' & ')
  if (Array.isArray(type))
    return union(type.map((one: string) => typeOf({ ...schema, type: one }, indent, use)))
  if (type === 'array') return arrayOf(schema, indent, use)
  if (type === 'object') return objectOf(schema, indent, use)
  return SIMPLE[type as string] ?? 'unknown'
}

function nameOf(reference: string): string {
  if (!reference.startsWith(REFERENCE)) throw new Error(`${reference} is not one of ${REFERENCE}`)
  return reference.slice(REFERENCE.length)
}

/** Also through others. */
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

function arrayOf({ items, prefixItems }: Schema, indent: string, use: Use): string {
  if (prefixItems !== undefined) return `[${prefixItems.map((one) => typeOf(one, indent, use)).join(', ')}]`
  return `${partOf(items ?? {}, indent, use)}[]`
}

function propertyType(type: string, isRequired: boolean, use: Use): string {
  const mayBeUndefined = use === 'input' && !isRequired && type !== 'unknown'
  return `${isRequired ? '' : '?'}: ${type}${mayBeUndefined ? ' | undefined' : ''}`
}

function objectOf(schema: Schema, indent: string, use: Use): string {
  const { properties = {}, required = [], additionalProperties: more } = schema
  const lines = Object.entries(properties).flatMap(([name, property]) => [
    ...comment(property.description, `${indent}  `),
    `${indent}  ${propertyName(name)}${propertyType(typeOf(property, `${indent}  `, use), required.includes(name), use)}`,
  ])
  const any = typeof more === 'object' ? typeOf(more, indent, use) : 'unknown'
  if (lines.length === 0) return more === false ? 'Record<string, never>' : `Record<string, ${any}>`
  // A named property need not be of the type of the others, so only unknown can be beside them.
  if (typeof more === 'object') lines.push(`${indent}  [name: string]: unknown`)
  return `{\n${lines.join('\n')}\n${indent}}`
}

const comment = (text: string | undefined, indent: string): string[] =>
  text === undefined ? [] : [`${indent}/** ${text.replaceAll('*/', '* /').replaceAll(/\s+/g, ' ')} */`]

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description?: string
  readonly schema: Schema
}

interface Reference {
  readonly $ref: string
}

interface Answer {
  readonly content?: Readonly<
    Record<string, { readonly schema: Schema & { readonly contentSchema?: Schema } }>
  >
}

interface Operation {
  readonly operationId: string
  readonly description: string
  readonly parameters?: readonly (Parameter | Reference)[]
  readonly requestBody?: { readonly required?: boolean; readonly content: NonNullable<Answer['content']> }
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly responses: Readonly<Record<string, Answer>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly parameters?: Readonly<Record<string, Parameter>>
  }
}

interface Call {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

const EVENTS = 'text/event-stream'
const JSON_MEDIA = 'application/json'
const USER = 'user_id'

export function clientModule(): string {
  const document = openApiDocument('the event') as unknown as Document
  const calls = Object.entries(document.paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): Call => ({
        method: method.toUpperCase(),
        path,
        operation,
      })),
    )
    .sort((a, b) => (a.operation.operationId < b.operation.operationId ? -1 : 1))
  const schemas = Object.entries(document.components.schemas).sort(([a], [b]) => (a < b ? -1 : 1))
  const answers = calls.map(({ operation }) => operation.responses)
  const answered = namesIn(answers, document.components.schemas)
  return (
    [
      PREAMBLE,
      ...schemas.map(([name, schema]) => named(name, schema, answered.has(name) ? 'answer' : 'input')),
      `/** Every operation: what it takes, and what it answers. */\nexport interface Operations {\n${calls.flatMap((call) => typesOf(call, document)).join('\n')}\n}`,
      `/** The data of the events of the operators' stream, by name. */\nexport interface StreamEvents ${typeOf(streamEvents(calls), '')}`,
      `/** How each operation is called: method, path with ~ for /api/event, and flags (see shared/service/openapi/write-client.ts). */\nexport const OPERATIONS = {\n${calls.map((call) => `  ${call.operation.operationId}: '${lineOf(call, document)}',`).join('\n')}\n} as const`,
      '',
    ]
      .join('\n\n')
      .trimEnd() + '\n'
  )
}

function named(name: string, schema: Schema, use: Use): string {
  const type = typeOf(schema, '', use)
  const declaration =
    type.startsWith('{') && type.endsWith('}') && schema.type === 'object'
      ? `interface ${name} ${type}`
      : `type ${name} = ${type}`
  return [...comment(schema.description, ''), `export ${declaration}`].join('\n')
}

const successOf = ({ responses }: Operation): Answer =>
  Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1] ?? {}

const isStream = ({ operation }: Call): boolean => successOf(operation).content?.[EVENTS] !== undefined

/** The schema of a JSON body; undefined: another form of body comes first. */
const jsonBodyOf = ({ requestBody }: Operation): Schema | undefined =>
  Object.keys(requestBody?.content ?? {})[0] === JSON_MEDIA
    ? requestBody!.content[JSON_MEDIA]!.schema
    : undefined

function bodyOf(operation: Operation, document: Document): Schema | null {
  const schema = jsonBodyOf(operation)
  return schema === undefined ? null : resolved(schema, document)
}

const resolved = (schema: Schema, document: Document): Schema =>
  schema.$ref === undefined ? schema : resolved(document.components.schemas[nameOf(schema.$ref)]!, document)

/** With those that are declared once for all. */
const parametersOf = ({ parameters = [] }: Operation, { components }: Document): Parameter[] =>
  parameters.map((one) =>
    '$ref' in one ? components.parameters![one.$ref.slice(one.$ref.lastIndexOf('/') + 1)]! : one,
  )

function hasProperty(schema: Schema, name: string, document: Document): boolean {
  const { properties = {}, allOf = [], anyOf = [] } = resolved(schema, document)
  return name in properties || [...allOf, ...anyOf].some((one) => hasProperty(one, name, document))
}

function typesOf(call: Call, document: Document): string[] {
  if (isStream(call)) return []
  const { operation } = call
  return [
    ...comment(operation.description, '  '),
    `  ${operation.operationId}: {`,
    `    input: ${inputOf(call, document)}`,
    `    data: ${dataOf(operation, document)}`,
    '  }',
  ]
}

function inputOf(call: Call, document: Document): string {
  const { requestBody } = call.operation
  const parameters = parametersOf(call.operation, document)
  const flags = flagsOf(call, document)
  const listed = parameters
    .filter(({ in: place }) => place !== 'header')
    .map(({ name, in: place, required, description, schema }): [string, Schema, boolean] => [
      name,
      {
        ...schema,
        ...(description === undefined ? {} : { description }),
        ...(place === 'query' ? queryType(name, schema) : {}),
      },
      required && !(flags.includes('q') && name === USER),
    ])
  const own: Schema = {
    type: 'object',
    properties: Object.fromEntries(listed.map(([name, schema]) => [name, schema])),
    required: listed.filter(([, , required]) => required).map(([name]) => name),
  }
  const parts = listed.length > 0 ? [typeOf(own, '    ', 'input')] : []
  const body = jsonBodyOf(call.operation)
  if (body !== undefined) {
    const type = typeOf(body, '    ', 'input')
    parts.push(flags.includes('b') ? `Caller<${type}>` : / \| /.test(type) ? `(${type})` : type)
  } else if (requestBody !== undefined) parts.push('RawBody')
  return parts.length > 0 ? parts.join(' & ') : 'Nothing'
}

/** A query is text; numbers are written as such. A cursor is given as `next_cursor` was answered. */
function queryType(name: string, schema: Schema): Schema {
  if (name === 'cursor') return { type: ['string', 'null'] }
  return schema.type === 'string' && schema.enum === undefined ? { type: ['string', 'number'] } : {}
}

const isText = (operation: Operation): boolean =>
  Object.keys(successOf(operation).content ?? {}).every((media) => media.startsWith('text/'))

function dataOf(operation: Operation, document: Document): string {
  const { content = {} } = successOf(operation)
  const json = content[JSON_MEDIA]?.schema
  if (json === undefined) return isText(operation) ? 'string' : 'Blob'
  const data = enveloped(json, document)
  return typeOf(data ?? json, '    ')
}

/** The schema of `data` in the envelope; null: the answer has no envelope. */
function enveloped(schema: Schema, document: Document): Schema | null {
  const { properties = {}, additionalProperties } = resolved(schema, document)
  const { ok, data, ...others } = properties
  return ok !== undefined &&
    data !== undefined &&
    Object.keys(others).length === 0 &&
    additionalProperties !== true
    ? data
    : null
}

/**
 * What a call needs beside its input: `a` the operator's token, `u` the pilgrim's ID token, `b` the pilgrim's id in
 * the body, `q` in the query, `h` in a header, `r` a raw body. The answer is JSON in the envelope; `j` JSON without
 * it, `t` text, `o` other bytes.
 */
function flagsOf({ operation }: Call, document: Document): string {
  const { requestBody, security = [] } = operation
  const parameters = parametersOf(operation, document)
  const mayBeOperator = security.some((scheme) => 'adminToken' in scheme)
  const isOperator = mayBeOperator && security.every((scheme) => 'adminToken' in scheme)
  const body = bodyOf(operation, document)
  const json = successOf(operation).content?.[JSON_MEDIA]?.schema
  const inBody = !isOperator && body !== null && hasProperty(body, USER, document)
  const inQuery = !isOperator && parameters.some(({ in: place, name }) => place === 'query' && name === USER)
  const inHeader =
    !(isOperator || inBody || inQuery) &&
    parameters.some(({ in: place, name }) => place === 'header' && /user-id$/i.test(name))
  return [
    mayBeOperator ? 'a' : '',
    inBody || inQuery || inHeader || security.some((scheme) => 'idToken' in scheme) ? 'u' : '',
    inBody ? 'b' : '',
    inQuery ? 'q' : '',
    inHeader ? 'h' : '',
    requestBody !== undefined && body === null ? 'r' : '',
    json === undefined ? (isText(operation) ? 't' : 'o') : enveloped(json, document) === null ? 'j' : '',
  ].join('')
}

/** The client puts `/api/event` in the place of `~`: a page loads every byte of this table. */
const lineOf = (call: Call, document: Document): string =>
  `${call.method} ${call.path.replace(/^\/api\/event/, '~')} ${flagsOf(call, document)}`.trimEnd()

function streamEvents(calls: readonly Call[]): Schema {
  const stream = calls.find(isStream)
  const properties = stream && successOf(stream.operation).content?.[EVENTS]?.schema.contentSchema?.properties
  return { type: 'object', properties: properties ?? {}, required: Object.keys(properties ?? {}) }
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

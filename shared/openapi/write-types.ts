/** TypeScript types of the JSON Schemas in the OpenAPI document. openapi-typescript needs TypeScript 5's compiler. */

/** A JSON Schema, as zod writes it. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly items?: Schema
  readonly prefixItems?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly description?: string
}

/** What may be absent may be undefined in an input, because JSON and queries leave it out; an answer has no undefined. */
export type Use = 'input' | 'answer'

const REFERENCE = '#/components/schemas/'
const SIMPLE: Record<string, string> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
}

/** A name as a property: quoted unless it is an identifier. */
const propertyName = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))

/** A value as a literal type. */
const literal = (value: unknown): string =>
  typeof value === 'string' ? `'${value.replaceAll(/['\\]/g, '\\$&')}'` : JSON.stringify(value)

/** A type that several schemas may be, each named once. */
function union(types: readonly string[]): string {
  const distinct = [...new Set(types)]
  return distinct.includes('unknown') ? 'unknown' : distinct.join(' | ')
}

/** The type of a schema as part of a larger type. */
function partOf(schema: Schema, indent: string, use: Use): string {
  const type = typeOf(schema, indent, use)
  const { enum: values, anyOf, oneOf, allOf } = schema
  const isCompound = (values ?? anyOf ?? oneOf ?? allOf) !== undefined || Array.isArray(schema.type)
  return isCompound && /[|&]/.test(type) ? `(${type})` : type
}

/**
 * The type of a schema.
 * @param indent spaces before the lines of an object
 * @param use what is done with values of the type
 * @throws Error for a reference that is no named schema
 */
export function typeOf(schema: Schema, indent = '', use: Use = 'answer'): string {
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

/** The name of the schema that a reference points to. */
export function nameOf(reference: string): string {
  if (!reference.startsWith(REFERENCE)) throw new Error(`${reference} is not one of ${REFERENCE}`)
  return reference.slice(REFERENCE.length)
}

/** The schemas that a part of the document refers to, also through others. */
export function namesIn(
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

/** A description as a comment. */
export const comment = (text: string | undefined, indent: string): string[] =>
  text === undefined ? [] : [`${indent}/** ${text.replaceAll('*/', '* /').replaceAll(/\s+/g, ' ')} */`]

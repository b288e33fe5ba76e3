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
function partOf(schema: Schema, indent: string): string {
  const type = typeOf(schema, indent)
  const { enum: values, anyOf, oneOf, allOf } = schema
  const isCompound = (values ?? anyOf ?? oneOf ?? allOf) !== undefined || Array.isArray(schema.type)
  return isCompound && /[|&]/.test(type) ? `(${type})` : type
}

/**
 * The type of a schema.
 * @param indent spaces before the lines of an object
 * @throws Error for a reference that is no named schema
 */
export function typeOf(schema: Schema, indent = ''): string {
  const { $ref, enum: values, anyOf, oneOf, allOf, type } = schema
  if ($ref !== undefined) return nameOf($ref)
  if (schema.const !== undefined) return literal(schema.const)
  if (values !== undefined) return union(values.map(literal))
  const alternatives = anyOf ?? oneOf
  if (alternatives !== undefined) return union(alternatives.map((one) => typeOf(one, indent)))
  if (allOf !== undefined) return allOf.map((one) => partOf(one, indent)).join(' & ')
  if (Array.isArray(type)) return union(type.map((one: string) => typeOf({ ...schema, type: one }, indent)))
  if (type === 'array') return arrayOf(schema, indent)
  if (type === 'object') return objectOf(schema, indent)
  return SIMPLE[type as string] ?? 'unknown'
}

/** The name of the schema that a reference points to. */
export function nameOf(reference: string): string {
  if (!reference.startsWith(REFERENCE)) throw new Error(`${reference} is not one of ${REFERENCE}`)
  return reference.slice(REFERENCE.length)
}

function arrayOf({ items, prefixItems }: Schema, indent: string): string {
  if (prefixItems !== undefined) return `[${prefixItems.map((one) => typeOf(one, indent)).join(', ')}]`
  return `${partOf(items ?? {}, indent)}[]`
}

function objectOf(schema: Schema, indent: string): string {
  const { properties = {}, required = [], additionalProperties: more } = schema
  const lines = Object.entries(properties).flatMap(([name, property]) => [
    ...comment(property.description, `${indent}  `),
    `${indent}  ${propertyName(name)}${required.includes(name) ? '' : '?'}: ${typeOf(property, `${indent}  `)}`,
  ])
  const any = typeof more === 'object' ? typeOf(more, indent) : 'unknown'
  if (lines.length === 0) return more === false ? 'Record<string, never>' : `Record<string, ${any}>`
  // A named property need not be of the type of the others, so only unknown can be beside them.
  if (typeof more === 'object') lines.push(`${indent}  [name: string]: unknown`)
  return `{\n${lines.join('\n')}\n${indent}}`
}

/** A description as a comment. */
export const comment = (text: string | undefined, indent: string): string[] =>
  text === undefined ? [] : [`${indent}/** ${text.replaceAll('*/', '* /').replaceAll(/\s+/g, ' ')} */`]

/**
 * Examples of requests and answers, composed of the examples of fields (`.meta({ examples })`) and of endpoints
 * (`example`). The documentation shows them, and a test sends each request to a running service
 * (tests/openapi/examples.test.ts).
 */
import type { Endpoint } from '#shared/contracts/endpoint.ts'
import type { Json, Schema } from './named-schemas.ts'
import { EVENTS, JSON_MEDIA } from './operations.ts'

export type Content = Readonly<
  Record<string, { readonly schema: Schema & { readonly contentSchema?: Schema }; examples?: Json }>
>

export interface Operation {
  /** Shared parameters are references to headers and have no `in`. */
  readonly parameters: readonly {
    readonly name: string
    readonly in?: 'path' | 'query' | 'header'
    readonly required: boolean
    readonly description?: string
    readonly schema: Schema
    example?: unknown
  }[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<number, { readonly content?: Content }>>
}

/** The parts of a document that this folder reads. */
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** Example of a random id. */
const EXAMPLE_ID = '7d0f3c52-4a8e-4c6b-9d59-0b3b8f0a1c2e'

/** An endpoint's example overrides those of its fields; an object field by field. */
const over = (composed: unknown, given: unknown): unknown =>
  given !== null && typeof given === 'object' && !Array.isArray(given) && typeof composed === 'object'
    ? { ...composed, ...given }
    : (given ?? composed)

/** @param components the schemas of the document by name */
export function createExamples(components: Readonly<Record<string, Schema>>) {
  const resolve = ({ $ref }: Schema): Schema => components[$ref!.slice($ref!.lastIndexOf('/') + 1)]!

  /** The example of the field itself. */
  function own(schema: Schema): unknown {
    if (schema.examples !== undefined) return schema.examples[0]
    if (schema.$ref !== undefined) return own(resolve(schema))
    return schema.anyOf?.map(own).find((example) => example !== undefined)
  }

  /** A value of a schema. Without an example, nullable fields are null and optional fields are absent. */
  function of(schema: Schema, at: string): unknown {
    const beside = own(schema)
    if (beside !== undefined) return beside
    const { anyOf, allOf, minimum = -Infinity, maximum = Infinity, properties = {}, required = [] } = schema
    if ('const' in schema) return schema.const
    if ('default' in schema) return schema.default
    if (schema.type?.includes('null')) return null
    if (schema.format === 'uuid') return EXAMPLE_ID
    if (schema.enum !== undefined) return schema.enum[0]
    if (schema.$ref !== undefined) return of(resolve(schema), at)
    if (anyOf !== undefined) return anyOf.some(({ type }) => type === 'null') ? null : of(anyOf[0]!, at)
    if (allOf !== undefined) return Object.assign({}, ...allOf.map((part) => of(part, at)))
    switch (schema.type) {
      case 'object':
        return Object.fromEntries(
          Object.entries(properties)
            .filter(([name, property]) => required.includes(name) || own(property) !== undefined)
            .map(([name, property]) => [name, of(property, `${at}.${name}`)]),
        )
      case 'array':
        if (schema.prefixItems !== undefined) return schema.prefixItems.map((item) => of(item, at))
        return schema.items === undefined ? [] : [of(schema.items, at)]
      case 'integer':
      case 'number':
        return Math.min(maximum, Math.max(minimum, 1))
      case 'boolean':
        return false
      case undefined:
      default:
        throw new Error(`${at} has no example: give it one in shared/contracts (.meta({ examples }))`)
    }
  }

  return ({ parameters, requestBody, responses }: Operation, { id, example }: Endpoint): void => {
    const given = { ...example.params, ...example.query }
    for (const parameter of parameters) {
      if (parameter.in !== 'path' && parameter.in !== 'query') continue
      // The example of the body contains everything.
      if (parameter.required)
        parameter.example = given[parameter.name] ?? of(parameter.schema, `${id}.${parameter.name}`)
      else if (requestBody === undefined) parameter.example = given[parameter.name] ?? own(parameter.schema)
    }
    const content = requestBody?.content ?? {}
    // JSON, or a form; bytes have no example.
    const body =
      content[JSON_MEDIA] ?? Object.values(content).findLast(({ schema }) => schema.type !== 'string')
    if (body !== undefined) body.examples = { example: { value: over(of(body.schema, id), example.body) } }
    for (const [status, answer] of Object.entries(responses)) {
      if (!status.startsWith('2')) continue
      const { [EVENTS]: events, [JSON_MEDIA]: json } = answer.content ?? {}
      if (events !== undefined) events.examples = { example: { value: example.answer } }
      if (json === undefined) continue
      const { ok, data } = json.schema.properties ?? {}
      const isInEnvelope = ok?.const === true && data !== undefined
      const value = over(of(isInEnvelope ? data : json.schema, id), example.answer)
      json.examples = { example: { value: isInEnvelope ? { ok: true, data: value } : value } }
    }
  }
}

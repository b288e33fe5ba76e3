/** JSON schemas of contracts. Each schema that a contract exports is a component of the document under its name. */
import { z } from 'zod'
import { SCHEMA_NAMES } from '#shared/contracts/endpoints.ts'

export type Json = Record<string, unknown>

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
  readonly examples?: readonly unknown[]
  readonly format?: string
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
}

/** Requests are described as sent, answers as read. */
type Direction = 'input' | 'output'

const COMPONENTS = '#/components/schemas/'
const INPUTS = '#/inputs/'
const DEFINITIONS = '#/$defs/'

const mapReferences = (value: unknown, map: (to: string) => string): unknown =>
  JSON.parse(JSON.stringify(value), (key, part: unknown) =>
    key === '$ref' && typeof part === 'string' ? map(part) : part,
  ) as unknown

/** The name of a contract that no module exports, derived from its operation. */
export const nameAfter = (id: string, what: 'Request' | 'Answer' | 'Form'): string =>
  `${id[0]!.toUpperCase()}${id.slice(1)}${what}`

interface Properties {
  readonly properties: Readonly<Record<string, Json>>
  readonly required: readonly string[]
}

const propertiesIn = (schema: Json): Properties => ({ properties: {}, required: [], ...schema })

/** The properties of a contract after it has parsed a request, without references. */
export const parsedProperties = (contract: z.ZodType): Properties =>
  propertiesIn(z.toJSONSchema(contract, { unrepresentable: 'any' }))

/** The schemas that a document refers to, directly or indirectly, in their order. */
function usedBy(document: Json, schemas: Readonly<Record<string, Json>>): Record<string, Json> {
  const used = new Set<string>()
  const visit = (part: unknown): unknown =>
    mapReferences(part, (to) => {
      const name = to.startsWith(COMPONENTS) ? to.slice(COMPONENTS.length) : ''
      if (name in schemas && !used.has(name)) {
        used.add(name)
        visit(schemas[name])
      }
      return to
    })
  visit(document)
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)))
}

export class NamedSchemas {
  readonly #definitions = { input: new Map<string, Json>(), output: new Map<string, Json>() }

  /** A reference to a contract. @param name for a contract that no module exports */
  reference(contract: z.ZodType, direction: Direction, name: string): Json {
    return this.#generate(contract, direction, SCHEMA_NAMES.get(contract) ?? name)
  }

  properties(contract: z.ZodType, direction: Direction): Properties {
    return propertiesIn(this.#generate(contract, direction, null))
  }

  /** @param name of the contract; null: its schema itself, in place */
  #generate(contract: z.ZodType, direction: Direction, name: string | null): Json {
    const names = new Map([...SCHEMA_NAMES, [contract, name]])
    const metadata = {
      get(schema: z.ZodType) {
        const id = names.get(schema)
        return { ...z.globalRegistry.get(schema), ...(typeof id === 'string' ? { id } : {}) }
      },
    }
    const root = z.toJSONSchema(z.object({ it: contract }), {
      io: direction,
      unrepresentable: 'any',
      target: 'draft-2020-12',
      metadata: metadata as unknown as typeof z.globalRegistry,
    })
    const to = direction === 'input' ? INPUTS : COMPONENTS
    // A root without a name is written in place.
    const { it, definitions } = mapReferences(
      { it: root.properties!.it, definitions: root.$defs ?? {} },
      (target) => target.replace(DEFINITIONS, to),
    ) as { it: Json; definitions: Record<string, Json> }
    for (const [name, { id: _, ...schema }] of Object.entries(definitions))
      this.#define(direction, name, schema)
    return it
  }

  #define(direction: Direction, name: string, schema: Json): void {
    const known = this.#definitions[direction].get(name)
    if (known !== undefined && !Bun.deepEquals(known, schema))
      throw new Error(`two schemas of the API have the name ${name}`)
    this.#definitions[direction].set(name, schema)
  }

  /** Names whose schema differs between requests and answers; those of requests end in Input. */
  #twofold(): Set<string> {
    const { input, output } = this.#definitions
    const asOutput = (schema: Json) => mapReferences(schema, (to) => to.replace(INPUTS, COMPONENTS))
    const found = new Set(
      [...input.keys()].filter(
        (name) => output.has(name) && !Bun.deepEquals(asOutput(input.get(name)!), output.get(name)),
      ),
    )
    for (let before = -1; before < found.size;) {
      before = found.size
      for (const [name, schema] of input)
        if (output.has(name))
          mapReferences(schema, (to) => {
            if (found.has(to.slice(INPUTS.length))) found.add(name)
            return to
          })
    }
    return found
  }

  finish(document: Json): Json {
    const twofold = this.#twofold()
    const named = (name: string) => (twofold.has(name) ? `${name}Input` : name)
    const schemas = Object.fromEntries(
      [
        ...this.#definitions.output,
        ...[...this.#definitions.input].map(([name, schema]) => [named(name), schema] as const),
      ].sort(([a], [b]) => (a < b ? -1 : 1)),
    )
    const resolved = mapReferences({ document, schemas }, (to) =>
      to.startsWith(INPUTS) ? COMPONENTS + named(to.slice(INPUTS.length)) : to,
    ) as { document: Json; schemas: Record<string, Json> }
    const components = resolved.document.components as Json
    return {
      ...resolved.document,
      components: { ...components, schemas: usedBy(resolved.document, resolved.schemas) },
    }
  }
}

/** Parameters and request bodies of the document. */
import type { z } from 'zod'
import type { Endpoint } from '#shared/contracts/endpoint.ts'
import { answersTagged } from './successes.ts'
import { type Json, nameAfter, type NamedSchemas, parsedProperties } from './named-schemas.ts'

/** Parameters of the path or the query. Numbers are described as numbers, although they are sent as text. */
function listed(contract: z.ZodType, place: 'path' | 'query', schemas: NamedSchemas): Json[] {
  const { properties, required } = schemas.properties(contract, 'input')
  const parsed = parsedProperties(contract).properties
  return Object.entries(properties).map(([name, sent]) => {
    const { description, ...written } = sent
    const isNumber = ['integer', 'number'].includes(parsed[name]?.type as string)
    const { description: _, ...number } = parsed[name] ?? {}
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: isNumber ? { ...number, ...('default' in sent ? { default: sent.default } : {}) } : written,
    }
  })
}

const CALLER: Json = {
  name: 'X-Line-User-Id',
  in: 'header',
  required: false,
  description: 'The pilgrim, where the request does not name one otherwise',
  schema: { $ref: '#/components/schemas/UserId' },
}

function parametersOf({ params, query, caller, headers, ...rest }: Endpoint, schemas: NamedSchemas): Json[] {
  const tagged = answersTagged({ ...rest })
  return [
    ...listed(params, 'path', schemas),
    ...listed(query, 'query', schemas),
    ...(caller === 'none' ? [] : [CALLER]),
    ...Object.entries(headers).map(([name, description]) => ({
      name,
      in: 'header',
      required: false,
      description,
      schema: { type: 'string' },
    })),
    ...(tagged ? [{ $ref: '#/components/parameters/If-None-Match' }] : []),
    { $ref: '#/components/parameters/X-Request-Id' },
  ]
}

const JSON_MEDIA = 'application/json'
const BYTES: Json = { type: 'string', format: 'binary' }

function requestBodyOf({ id, bodyKind, body, sent }: Endpoint, schemas: NamedSchemas): Json {
  if (bodyKind === 'none') return {}
  const media: Readonly<Record<string, z.ZodType | null>> =
    Object.keys(sent).length > 0
      ? sent
      : bodyKind === 'json'
        ? { 'application/json': body }
        : { 'application/octet-stream': null }
  const content = Object.entries(media).map(([type, contract]) => [
    type,
    {
      schema:
        contract === null
          ? BYTES
          : schemas.reference(contract, 'input', nameAfter(id, type === JSON_MEDIA ? 'Request' : 'Form')),
    },
  ])
  return { requestBody: { required: true, content: Object.fromEntries(content) as Json } }
}

/** The request of an operation. */
export const requestOf = (endpoint: Endpoint, schemas: NamedSchemas): Json => ({
  parameters: parametersOf(endpoint, schemas),
  ...requestBodyOf(endpoint, schemas),
})

/** The OpenAPI document is complete and consistent. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Endpoint } from '#shared/contracts/endpoint.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { openApiDocument } from '#shared/service/openapi/openapi-document.ts'

const CONTRACTS = join(import.meta.dir, '../../shared/contracts')

interface Schema {
  readonly properties?: Record<string, Schema>
  readonly allOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
}
type Content = Record<string, { readonly schema: Schema }>
interface Operation {
  readonly operationId: string
  readonly requestBody?: { readonly content: Content }
  readonly responses: Record<string, { readonly content?: Content }>
  readonly parameters: readonly { readonly name: string; readonly in: string }[]
}

const document = openApiDocument('The <Walk>') as {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}
const { paths } = document
const operations = Object.values(paths).flatMap((path) => Object.values(path))

test('the document has every endpoint, with its successful answer and its parameters', () => {
  for (const { method, path, success } of ENDPOINTS) {
    const operation = paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
    expect(Object.keys(operation?.responses ?? {})).toContain(String(success))
    for (const [, name] of path.matchAll(/:(\w+)/g))
      expect(operation?.parameters).toContainEqual(
        expect.objectContaining({ name, in: 'path', required: true }),
      )
  }
})

test('every endpoint that a module of contracts declares is in the table', async () => {
  const modules = await Array.fromAsync(new Bun.Glob('*.ts').scan(CONTRACTS))
  let declared = 0
  for (const module of modules)
    for (const value of Object.values((await import(join(CONTRACTS, module))) as Record<string, unknown>))
      if (typeof value === 'object' && value !== null && 'path' in value && 'service' in value) {
        declared++
        expect(ENDPOINTS).toContain(value as Endpoint)
      }
  expect(declared).toBe(ENDPOINTS.length)
})

test('the document has only endpoints, and each operation has a unique id', () => {
  expect(operations).toHaveLength(ENDPOINTS.length)
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length)
  for (const { operationId } of operations) expect(operationId).toMatch(/^[a-z]+([A-Z][a-z]*)*$/)
})

test('every reference has a target', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, to]) => to!)
  expect(references.length).toBeGreaterThan(0)
  for (const to of references) {
    const found = to
      .slice(2)
      .split('/')
      .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document)
    expect({ to, found: typeof found }).toEqual({ to, found: 'object' })
  }
})

test('a check-in is described with its fields and refusals', () => {
  const operation = paths['/api/event/checkin']!.post!
  expect(Object.keys(operation.responses)).toEqual([
    '202',
    '400',
    '401',
    '403',
    '408',
    '410',
    '413',
    '429',
    '500',
    '503',
  ])
  expect(JSON.stringify(operation)).toContain('"user_id"')
})

test('every JSON body and answer is a named schema, and no list takes anything', () => {
  const isNamed = (schema: object | undefined): boolean =>
    schema !== undefined && (Object.hasOwn(schema, '$ref') || Object.hasOwn(schema, 'allOf'))
  for (const { operationId, requestBody, responses } of operations) {
    const body = requestBody?.content['application/json']?.schema
    expect({ operationId, named: body === undefined || isNamed(body) }).toEqual({ operationId, named: true })
    for (const { content } of Object.values(responses)) {
      const answer = content?.['application/json']?.schema
      const named =
        answer === undefined ||
        isNamed(answer) ||
        isNamed(answer.properties?.data) ||
        answer.anyOf?.some(isNamed)
      expect({ operationId, answer, named }).toEqual({ operationId, answer, named: true })
    }
  }
  const { points } = document.components.schemas.TrackBatch!.properties as Record<string, { items: object }>
  expect(points!.items).toEqual({ $ref: '#/components/schemas/TrackPoint' })
})

test('an error names the codes of its operation, and only those', () => {
  const codes = (id: string, status: number): unknown =>
    operations.find(({ operationId }) => operationId === id)!.responses[status]!.content!['application/json']!
      .schema.allOf![1]
  const only = (...names: string[]) => ({
    type: 'object',
    properties: { code: { type: 'string', enum: names } },
  })
  expect(codes('checkIn', 403)).toEqual(only('forbidden', 'paused', 'ended'))
  expect(codes('checkIn', 503)).toEqual(only('unavailable', 'buffer-full'))
  expect(codes('setStatus', 403)).toEqual(only('forbidden'))
  expect(codes('setParticipantStatus', 409)).toEqual(only('conflict'))
  expect(codes('setParticipantStatus', 410)).toEqual(only('erased'))
})

test('the limit of a body is the configured one', () => {
  const text = JSON.stringify(openApiDocument('x', { bodyBytes: 54_321 }))
  expect(text).toContain('54321 bytes')
  expect(text).not.toContain('102400')
})

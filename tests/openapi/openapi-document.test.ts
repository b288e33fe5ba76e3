/** The OpenAPI document is complete and consistent. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Endpoint } from '#shared/contracts/endpoint.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { docsPage } from '#services/admin/documentation/docs-page.ts'
import { openApiDocument } from '#shared/openapi/openapi-document.ts'

const CONTRACTS = join(import.meta.dir, '../../shared/contracts')

interface Operation {
  readonly operationId: string
  readonly responses: Record<string, unknown>
  readonly parameters: readonly { readonly name: string; readonly in: string }[]
}

const document = openApiDocument('The <Walk>', 'https://event.test')
const paths = document.paths as Record<string, Record<string, Operation>>

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
  const operations = Object.values(paths).flatMap((path) => Object.values(path))
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
    '413',
    '429',
    '500',
    '503',
  ])
  expect(JSON.stringify(operation)).toContain('"user_id"')
})

test('the page lists every path, and escapes text', () => {
  const page = docsPage('The <Walk>', 'https://event.test')
  for (const { path } of ENDPOINTS) expect(page).toContain(path)
  expect(page).toContain('The &lt;Walk&gt;')
  expect(page).not.toContain('<script')
  expect(page).not.toContain('<Walk>')
})

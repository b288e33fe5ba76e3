/** Every value that a contract accepts can be stored: no text, key or time that Postgres would reject. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isNestedTooDeep } from '#shared/service/http/body.ts'
import { openApiDocument } from '#shared/service/openapi/openapi-document.ts'
import { Nothing } from '#shared/contracts/endpoint.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { HttpsUrl, Instant, isStorableText } from '#shared/contracts/fields.ts'
import { TIMES, URLS } from '#tests/tools/fuzz/edges.ts'
import { mutate, mutation, writeJson } from '#tests/tools/fuzz/json.ts'
import { withoutReferences } from '#tests/tools/fuzz/references.ts'
import { fromSchema, type Schema } from '#tests/tools/fuzz/schema.ts'

/** Points and their times are validated one by one; rejected ones only appear in the response. */
const LOOKED_AT_LATER = ['points', 'track_points', 'gps_points', 'timestamp', 'ignored']

/** Each text of a translation is validated by itself (`checkTexts`). */
const LATER_OF: Readonly<Record<string, readonly string[]>> = {
  '/api/event/admin/settings/translation': [...LOOKED_AT_LATER, 'texts'],
}

/** Path of a value that cannot be stored; null: none. */
function faultIn(value: unknown, later: readonly string[], path = ''): string | null {
  if (typeof value === 'string') return isStorableText(value) ? null : path
  if (typeof value !== 'object' || value === null) return null
  for (const [key, one] of Object.entries(value)) {
    if (!isStorableText(key)) return `${path}.(key)`
    const fault = later.includes(key) ? null : faultIn(one, later, `${path}.${key}`)
    if (fault !== null) return fault
  }
  return null
}

const { paths } = withoutReferences(openApiDocument('x')) as {
  paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>>
}
const bodies = ENDPOINTS.filter(({ bodyKind, body }) => bodyKind === 'json' && body !== Nothing)

describe('a body that a contract accepts', () => {
  test.each(bodies.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const))(
    'of %s holds nothing that cannot be stored',
    (_name, { path, method, body }) => {
      const operation = paths[path.replaceAll(/:(\w+)/g, '{$1}')]![method.toLowerCase()]!
      const right = fromSchema(operation.requestBody!.content['application/json']!.schema)
      const spoiling = mutation.map((change) => ({ ...change, swarm: 3 }))
      fc.assert(
        fc.property(right, fc.array(spoiling, { minLength: 1, maxLength: 2 }), (document, changes) => {
          let given: unknown
          try {
            const text = writeJson(mutate(document, changes))
            if (isNestedTooDeep(new TextEncoder().encode(text))) return
            given = JSON.parse(text)
          } catch {
            return
          }
          const parsed = body.safeParse(given)
          if (parsed.success) expect(faultIn(parsed.data, LATER_OF[path] ?? LOOKED_AT_LATER)).toBeNull()
        }),
        { numRuns: 200 },
      )
    },
  )
})

test.each([...TIMES])('%s is no moment, or one that every store holds', (written) => {
  const parsed = Instant.safeParse(written)
  if (!parsed.success) return
  expect(new Date(parsed.data).toISOString()).toMatch(/^\d{4}-/)
  expect(new Date(parsed.data).getUTCFullYear()).toBeGreaterThan(0)
})

test.each([...URLS])('%j is no address, or an https one', (written) => {
  const parsed = HttpsUrl.safeParse(written)
  if (parsed.success) expect(new URL(parsed.data).protocol).toBe('https:')
  const isPlain = /^https:\/\/[!-[\]-~\u00a1-\uffff]+$/i.test(written)
  if (!isPlain) expect(parsed.success).toBe(false)
})

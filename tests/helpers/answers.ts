/** Checks answers against the contracts and returns their data. */
import { expect } from 'bun:test'
import { z } from 'zod'
import type { Endpoint } from '#shared/contracts/endpoint.ts'
import { ErrorBody, ErrorCode } from '#shared/contracts/errors.ts'
import { BROWSER_HEADERS } from '#shared/service/http/headers.ts'

type DataOf<E> = E extends Endpoint<z.ZodType, z.ZodType, z.ZodType, infer D> ? z.infer<D> : never

/** Checks the headers of every answer, whether a service or Caddy made it. */
export function expectCommonHeaders({ headers }: { readonly headers: Headers }): void {
  for (const [name, value] of Object.entries(BROWSER_HEADERS)) expect(headers.get(name)).toBe(value)
  expect(headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  expect(headers.get('server')).toBeNull()
  expect(headers.get('x-request-id')).toMatch(/^[\w.:-]{1,64}$/)
  expect(headers.get('access-control-allow-origin')).toBe('*')
  for (const name of ['Retry-After', 'X-Request-Id', 'RateLimit', 'RateLimit-Policy', 'ETag'])
    expect(headers.get('access-control-expose-headers')).toContain(name)
}

/** The data of a success. Checks status, envelope and every field against the endpoint; additional fields fail. */
export async function dataOf<E extends Endpoint>(response: Response, endpoint: E): Promise<DataOf<E>> {
  const text = await response.text()
  expect({ status: response.status, text }).toEqual({ status: endpoint.success, text: expect.any(String) })
  expectCommonHeaders(response)
  expect(response.headers.get('content-type')).toStartWith('application/json')
  const body: unknown = JSON.parse(text)
  expect(text).toBe(JSON.stringify(body))
  const { data } = z.strictObject({ ok: z.literal(true), data: z.unknown() }).parse(body)
  const checked = endpoint.data.parse(data)
  expect(checked).toEqual(data)
  return checked as DataOf<E>
}

/** The message of a refusal with this status and code. */
export async function sentenceOf(
  response: Pick<Response, 'status' | 'headers' | 'text'>,
  status: number,
  code: ErrorCode,
): Promise<string> {
  const text = await response.text()
  expect({ status: response.status, text }).toEqual({ status, text: expect.any(String) })
  expectCommonHeaders(response)
  expect(response.headers.get('content-type')).toStartWith('application/json')
  const body = ErrorBody.strict().parse(JSON.parse(text))
  expect(body.code).toBe(code)
  expect(body.error.length).toBeGreaterThan(10)
  // Caddy's own refusals have no request id in the body.
  if (body.request_id !== undefined) expect(body.request_id).toBe(response.headers.get('x-request-id')!)
  if (status === 503 || status === 429) expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  return body.error
}

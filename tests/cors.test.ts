/** CORS for any origin, and for listed ones. */
import { expect, test } from 'bun:test'
import { createCommonHeaders } from '#shared/http/headers.ts'

const headersFor = (origins: readonly string[], origin: string | null) =>
  createCommonHeaders(origins).of(
    new Request('http://a/', origin === null ? {} : { headers: { Origin: origin } }),
    'id',
  )

test('any origin: nothing varies, and no credentials', () => {
  for (const origin of [null, 'https://a.example']) {
    const headers = headersFor(['*'], origin)
    expect(headers).toMatchObject({ 'access-control-allow-origin': '*' })
    expect(headers).not.toHaveProperty('vary')
    expect(headers).not.toHaveProperty('access-control-allow-credentials')
  }
})

test('listed origins are echoed with credentials, no other one is', () => {
  const listed = ['https://a.example', 'https://b.example:8443']
  for (const origin of listed)
    expect(headersFor(listed, origin)).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      vary: 'Origin',
    })
  for (const origin of [
    null,
    'null',
    'http://a.example',
    'https://a.example.evil',
    'https://A.example',
    'constructor',
    '*',
  ]) {
    const headers = headersFor(listed, origin)
    expect(headers).not.toHaveProperty('access-control-allow-origin')
    expect(headers).not.toHaveProperty('access-control-allow-credentials')
    expect(headers.vary).toBe('Origin')
  }
})

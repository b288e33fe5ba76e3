/** Options of the client, and its errors when the connection fails. */
import { expect, test } from 'bun:test'
import { createClient } from '#shared/client/index.ts'

const baseUrl = 'https://walk.example'

test('a failed connection is told with its innermost cause, as Node gives it', async () => {
  const untrusted = Object.assign(new Error('self-signed certificate'), {
    code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
  })
  const nobody = Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' })
  for (const [cause, told] of [
    [untrusted, 'self-signed certificate'],
    [nobody, 'ECONNREFUSED'],
  ] as const) {
    const error = new TypeError('fetch failed', { cause })
    const client = createClient({ baseUrl, fetch: () => Promise.reject(error) })
    expect(await client.readMap()).toMatchObject({
      ok: false,
      error: { code: 'network', message: `The service cannot be reached (${told}).`, cause: error },
    })
  }
})

test('an address without a scheme is refused when the client is created', () => {
  for (const wrong of ['walk.example', 'localhost:8443', '//walk.example', 'ftp://walk.example', 'https://'])
    expect(() => createClient({ baseUrl: wrong })).toThrow('baseUrl must begin with https:// or http://')
  for (const right of ['', 'HTTPS://walk.example', new URL('http://localhost:8443')])
    expect(() => createClient({ baseUrl: right })).not.toThrow()
})

test('a time limit that is undefined is the usual one', async () => {
  const client = createClient({
    baseUrl,
    timeoutMs: 5_000,
    fetch: async () => {
      await Bun.sleep(20)
      return Response.json({ ok: true, data: {} })
    },
  })
  expect(await client.readMap({}, { timeoutMs: undefined, signal: undefined })).toMatchObject({ ok: true })
})

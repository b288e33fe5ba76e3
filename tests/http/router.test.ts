/** Processing between a request and its route. */
import { expect, test } from 'bun:test'
import type { ServiceContext } from '#shared/service/context.ts'
import { dataEndpoint } from '#shared/contracts/tracking.ts'
import { createRouter } from '#shared/service/http/router.ts'
import { runCommand } from '#tests/helpers/process.ts'

test('a route prepares nothing that it does not read, because that costs more than the answer', () => {
  // The context is never used.
  const context = { tls: false, config: { corsOrigins: ['*'] }, now: Date.now } as unknown as ServiceContext
  const { app, serve } = createRouter(context)
  serve(dataEndpoint, () => ({ points: [], generated_at: '' }))
  const [route] = app.routes
  const text = String(route!.compile())
  expect(text).toContain('handler(c)')
  for (const prepared of ['parseCookie', 'parseQuery', 'c.headers', 'getServer', 'c.body'])
    expect(text).not.toContain(prepared)
})

test('a service leaves the endpoints of the others out of its memory', async () => {
  const loaded = `await import('#services/tracking/app.ts'); console.log(Object.keys(require.cache).join('\\n'))`
  const { out, err } = await runCommand([process.execPath, '-e', loaded])
  expect({ err, out }).toMatchObject({ err: '', out: expect.stringContaining('contracts/tracking.ts') })
  expect(out).not.toContain('contracts/endpoints.ts')
})

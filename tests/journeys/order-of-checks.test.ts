/** The order of checks: size, then caller, then content. */
import { test } from 'bun:test'
import type { Endpoint } from '#shared/contracts/endpoint.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { sentenceOf } from '#tests/helpers/answers.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'

/** One byte more than an endpoint accepts. */
const tooLarge = ({ bodyBytes }: Endpoint): string => 'a'.repeat((bodyBytes ?? 102_400) + 1)
const filled = (path: string) => path.replaceAll(/:\w+/g, 'someone')
const streamed = (text: string): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      for (let i = 0; i < text.length; i += 40_000)
        controller.enqueue(new TextEncoder().encode(text.slice(i, i + 40_000)))
      controller.close()
    },
  })
const WAYS: readonly (readonly [name: string, body: (text: string) => BodyInit])[] = [
  ['with Content-Length', (text) => text],
  ['in chunks', streamed],
]

describeBothStacks('the order of checks', (stack) => {
  test.each(WAYS)('every endpoint first refuses a body that is too large, %s', async (_, body) => {
    for (const endpoint of ENDPOINTS.filter(({ method }) => method !== 'GET'))
      for (const headers of [{}, { 'X-Admin-Token': 'no token of this event' }]) {
        const { method, path } = endpoint
        const sent = { method, headers, body: body(tooLarge(endpoint)) }
        await sentenceOf(await stack.fetch(filled(path), sent), 413, 'too-large')
      }
  })

  test('the caller is checked before the content of the body', async () => {
    for (const { method, path, access, bodyKind } of ENDPOINTS)
      if (bodyKind === 'json' && access !== 'public' && access !== 'optional')
        await sentenceOf(await stack.fetch(filled(path), { method, body: '{"cut' }), 401, 'unauthorized')
  })
})

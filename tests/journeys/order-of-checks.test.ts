/** The order of checks: size, then caller, then content. */
import { test } from 'bun:test'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { sentenceOf } from '#tests/helpers/answers.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'

const TOO_LARGE = 'a'.repeat(102_401)
const filled = (path: string) => path.replaceAll(/:\w+/g, 'someone')
const streamed = (text: string): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      for (let i = 0; i < text.length; i += 40_000)
        controller.enqueue(new TextEncoder().encode(text.slice(i, i + 40_000)))
      controller.close()
    },
  })
const WAYS: readonly (readonly [name: string, body: () => BodyInit])[] = [
  ['with Content-Length', () => TOO_LARGE],
  ['in chunks', () => streamed(TOO_LARGE)],
]

describeBothStacks('the order of checks', (stack) => {
  test.each(WAYS)('every endpoint first refuses a body that is too large, %s', async (_, body) => {
    for (const { method, path } of ENDPOINTS.filter((endpoint) => endpoint.method !== 'GET'))
      for (const headers of [{}, { 'X-Admin-Token': 'no token of this event' }])
        await sentenceOf(await stack.fetch(filled(path), { method, headers, body: body() }), 413, 'too-large')
  })

  test('the caller is checked before the content of the body', async () => {
    for (const { method, path, access, bodyKind } of ENDPOINTS)
      if (bodyKind === 'json' && access !== 'public' && access !== 'optional')
        await sentenceOf(await stack.fetch(filled(path), { method, body: '{"cut' }), 401, 'unauthorized')
  })
})

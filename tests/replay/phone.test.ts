import { expect, test } from 'bun:test'
import { createClient } from '#shared/client/index.ts'
import { backoffMs, failureOf, refusalOf } from './phone.ts'

/** What the replay makes of an answer with an error. */
async function refusal(status: number, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const client = createClient({ baseUrl: '', fetch: async () => new Response(text, { status, headers }) })
  const answer = await client.readProfile({ userId: 'me' })
  if (answer.ok) throw new Error(`${status} is a success`)
  return refusalOf('https://x', answer.error)
}

test.each([429, 500, 502, 503])('%p passes, after what the service asks for', async (status) => {
  const body = { error: 'Too many requests' }
  expect(await refusal(status, body, { 'retry-after': '23' })).toEqual({
    passing: true,
    afterMs: 23_000,
    sentence: `The service answers ${status}: Too many requests.`,
  })
  expect((await refusal(status, '<h1>Bad gateway</h1>')).afterMs).toBeNull()
  expect((await refusal(status, body, { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' })).afterMs).toBeNull()
  expect((await refusal(status, body, { 'retry-after': '0' })).afterMs).toBe(1_000)
})

test.each([
  [403, { error: 'Storm', code: 'paused' }, /403: Storm\. Resume the event/],
  [403, { error: 'Over', code: 'ended' }, /An ended event/],
  [401, { error: 'Who?', code: 'unauthorized' }, /EVENT_IDENTITY/],
  [400, { error: 'timestamp: too old', code: 'invalid-request' }, /timestamp: too old\. .*--ends/],
  [413, { error: 'Too large', code: 'too-large' }, /--batch/],
  [404, 'not here', /404: no reason given\. Check --url/],
  [301, '', /--url/],
] as const)('%p is final and says what to do', async (status, body, sentence) => {
  const said = await refusal(status, body, { 'x-request-id': 'r-1' })
  expect(said.passing).toBe(false)
  expect(said.sentence).toMatch(sentence)
  expect(said.sentence).toEndWith('(request r-1)')
})

test('a certificate stays wrong, a connection may come back', () => {
  const untrusted = Object.assign(new TypeError('self signed certificate'), {
    code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
  })
  expect(failureOf('https://x', untrusted)).toMatchObject({
    passing: false,
    sentence: expect.stringContaining('--ca'),
  })
  const reset = Object.assign(new TypeError('closed'), { code: 'ECONNRESET' })
  expect(failureOf('https://x', reset)).toMatchObject({ passing: true, afterMs: null })
  expect(failureOf('https://x', new DOMException('The operation timed out.', 'TimeoutError')).passing).toBe(
    true,
  )
})

test('the wait doubles from a second to half a minute', () => {
  expect([1, 2, 3, 5, 6, 50].map(backoffMs)).toEqual([1_000, 2_000, 4_000, 16_000, 30_000, 30_000])
})

test('another service is not taken for this one', async () => {
  expect(await refusal(200, '<h1>Welcome</h1>')).toMatchObject({
    passing: false,
    sentence: expect.stringContaining('does not answer as this service does'),
  })
})

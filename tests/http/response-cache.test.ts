/** Cached responses: computed once, separate for each caller, and expiring. */
import { expect, test } from 'bun:test'
import type { Operator } from '#shared/service/security/admin-auth.ts'
import { matchesEtag } from '#shared/service/http/headers.ts'
import { ResponseCache } from '#shared/service/http/response-cache.ts'
import { stopwatchBy } from '#tests/helpers/stopwatch.ts'
import { rejection } from '#tests/helpers/rejection.ts'

const KEEP_MS = 1_000
const operator = (role: Operator['role']): Operator => ({ role, level: 1, name: 'n', fingerprint: 'f' })
const ask = (query: string, headers: Record<string, string> = {}) =>
  new Request(`https://event.test/api/event/data${query}`, { headers })

function setUp() {
  const clock = { nowMs: 5_000 }
  const answers = new ResponseCache(
    KEEP_MS,
    stopwatchBy(() => clock.nowMs),
  )
  let made = 0
  const get = async (query: string, what: unknown, who: Operator | null = null) => {
    const found = answers.find(ask(query), who)
    if (found !== null) return `found ${await found.text()}`
    return (await answers.answer(ask(query), who, what, async () => `"${++made}"`)).text()
  }
  return { clock, answers, get, made: () => made }
}

test('concurrent requests that mean the same share one answer', async () => {
  const { get, made } = setUp()
  const queries = ['?limit=5', '?limit=5&x=1', '?x=2&limit=5', '?limit=5']
  expect(await Promise.all(queries.map((query) => get(query, { limit: 5 })))).toEqual(Array(4).fill('"1"'))
  expect(await get('?x=2&limit=5', { limit: 5 })).toBe('found "1"')
  expect(await get('?limit=6', { limit: 6 })).toBe('"2"')
  expect(made()).toBe(2)
})

test('an answer is cached for its lifetime, counted from the start of its computation', async () => {
  const { clock, get, answers } = setUp()
  const slow = Promise.withResolvers<string>()
  const first = answers.answer(ask('?slow'), null, 'slow', () => slow.promise)
  clock.nowMs += KEEP_MS - 1
  slow.resolve('"slow"')
  expect(await (await first).text()).toBe('"slow"')
  expect(await get('?slow', 'slow')).toBe('found "slow"')
  clock.nowMs += 1
  expect(await get('?slow', 'slow')).toBe('"1"')
})

test('operators and the public never share an answer, and neither do two roles', async () => {
  const { get } = setUp()
  expect(await get('', 'all')).toBe('"1"')
  expect(await get('', 'all', operator('owner'))).toBe('"2"')
  expect(await get('', 'all', operator('volunteer'))).toBe('"3"')
  expect(await get('', 'all')).toBe('found "1"')
  expect(await get('', 'all', operator('owner'))).toBe('found "2"')
})

test('a failure is returned to all waiting requests, and is not cached', async () => {
  const { answers, get } = setUp()
  const failing = () =>
    rejection(answers.answer(ask(''), null, 'all', () => Promise.reject(new Error('away'))))
  for (const { message } of (await Promise.all([failing(), failing()])) as Error[])
    expect(message).toBe('away')
  expect(await get('', 'all')).toBe('"1"')
})

test('many different requests do not exceed the size limit of the cache', async () => {
  const { answers, get } = setUp()
  for (let i = 0; i < 1_000; i++) await get(`?bbox=${i}`, i)
  const kept = Array.from({ length: 1_000 }, (_, i) => answers.find(ask(`?bbox=${i}`), null))
  expect(kept.filter((answer) => answer !== null).length).toBeWithin(64, 257)
  expect(kept.at(-1)).not.toBeNull()
})

test('a client that has the current answer gets 304', async () => {
  const { answers } = setUp()
  const get = (headers: Record<string, string>, who: Operator | null = null) =>
    answers.answer(ask('', headers), who, 'all', async () => '"same"')
  const { status, headers } = await get({})
  const tag = headers.get('etag')!
  expect({ status, tag }).toEqual({ status: 200, tag: expect.stringMatching(/^"\w+"$/) })
  expect(headers.get('cache-control')).toBe('no-cache')
  expect((await get({}, operator('owner'))).headers.get('cache-control')).toBe('private, no-cache')
  for (const given of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
    const answer = await get({ 'If-None-Match': given })
    expect({
      given,
      status: answer.status,
      tag: answer.headers.get('etag'),
      text: await answer.text(),
    }).toEqual({
      given,
      status: 304,
      tag,
      text: '',
    })
  }
  expect((await get({ 'If-None-Match': '"other"' })).status).toBe(200)
  expect(matchesEtag(ask(''), tag)).toBe(false)
})

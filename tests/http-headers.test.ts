/** What every answer carries, with any origin and with a list of them. */
import { expect, test } from 'bun:test'
import { createCommonHeaders, requestIdOf } from '#shared/http/headers.ts'

const from = (origin?: string) =>
  new Request('http://a/', origin === undefined ? {} : { headers: { Origin: origin } })

test('with any origin nothing varies, and no credentials are let in', () => {
  const headers = createCommonHeaders(['*']).of(from('https://phones.example'), 'id')
  expect(headers).toMatchObject({ 'access-control-allow-origin': '*', 'x-request-id': 'id' })
  expect(Object.keys(headers)).not.toContainAnyValues(['vary', 'access-control-allow-credentials'])
})

test('of a list the origin is echoed, with credentials; others are told nothing', () => {
  const common = createCommonHeaders(['https://phones.example', 'https://map.example'])
  const known = {
    'access-control-allow-origin': 'https://map.example',
    'access-control-allow-credentials': 'true',
    vary: 'Origin',
  }
  expect(common.of(from('https://map.example'), 'id')).toMatchObject(known)
  for (const stranger of [undefined, 'https://map.example.evil', 'null']) {
    const headers = common.of(from(stranger), 'id')
    expect(headers).toMatchObject({ vary: 'Origin' })
    expect(headers).not.toHaveProperty('access-control-allow-origin')
  }
  const preflight = common.preflight(from('https://map.example'), 'id')
  expect(Object.fromEntries(preflight.headers)).toMatchObject({ ...known, 'access-control-max-age': '86400' })
})

test('an answer that varies already varies by both', () => {
  const answer = new Response('', { headers: { Vary: 'Accept' } })
  createCommonHeaders(['https://map.example']).stamp(answer, from(), 'id')
  expect(answer.headers.get('vary')).toBe('Accept, Origin')
})

test('a client’s request id is kept where it is one', () => {
  const idOf = (id: string) => requestIdOf(new Request('http://a/', { headers: { 'X-Request-Id': id } }))
  expect(idOf('walk-7:retry.2_x')).toBe('walk-7:retry.2_x')
  expect(idOf('a b')).toMatch(/^[\da-f]{8}-/)
})

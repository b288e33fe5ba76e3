/**
 * Cost of invalid bodies: they are charged to their address, and rejected before they are fully validated.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createSurveyProfile } from '#services/survey-profile/app.ts'
import { PRICES } from '#shared/service/security/request-prices.ts'
import type { Service } from '#shared/service/context.ts'
import { openServiceParts, type ServiceParts } from '#tests/helpers/service-parts.ts'

const LIMIT = 20

let parts: ServiceParts
let service: Service
beforeAll(async () => {
  parts = await openServiceParts({ EVENT_LIMIT_ADDRESS: String(LIMIT), EVENT_LIMIT_SURVEY: '1000' })
  const addressOf = (request: Request) => request.headers.get('x-test-address')!
  service = createSurveyProfile({ ...parts.context(), addressOf })
})
afterAll(() => parts?.close())

async function send(address: string, path: string, body: string | object) {
  const response = await service.fetch(
    new Request(`http://event.test/api/event/${path}`, {
      method: 'POST',
      headers: { 'x-test-address': address },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    }),
  )
  const { error } = (await response.json()) as { error?: string }
  return { status: response.status, error }
}

const fields = (count: number, value: unknown): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`q1_${i}`, value]))

test('an address that sends invalid bodies gets 429 at its limit, and another one is served', async () => {
  const invalid = ['{', { user_id: 'u', transport: { bus: {} } }, { user_id: 1 }, fields(7_000, {})]
  const { ms } = PRICES.syncProfile!
  for (let i = 0; i < LIMIT / ms; i++)
    expect((await send('rude', 'user/sync', invalid[i % (invalid.length - 1)]!)).status).toBe(400)
  for (const body of [...invalid, { user_id: 'u', display_name: 'x' }])
    expect((await send('rude', 'user/sync', body)).status).toBe(429)
  expect((await send('kind', 'user/sync', { user_id: 'u', display_name: 'x' })).status).toBe(200)
})

test('a large body costs its address more than a small one, whether it is valid or not', async () => {
  const bytes = 'x'.repeat(90_000)
  expect((await send('large', 'user/sync', { user_id: 'u', display_name: bytes })).status).toBe(400)
  expect((await send('large', 'user/sync', { user_id: 'u' })).status).toBe(429)
})

describe('a body', () => {
  test('has at most 200 fields, also in its objects', async () => {
    const refused = { status: 400 }
    const survey = fields(201, {})
    expect(await send('a1', 'submit', { user_id: 'u', ...fields(200, {}) })).toMatchObject({
      ...refused,
      error: 'body: a body may have at most 200 fields',
    })
    expect(await send('a2', 'submit', { user_id: 'u', survey })).toMatchObject({
      ...refused,
      error: 'survey: a body may have at most 200 fields',
    })
    const transport = fields(100, 1)
    expect(await send('a3', 'user/sync', { user_id: 'u', ...fields(99, 1), transport })).toMatchObject({
      ...refused,
      error: 'transport: a body may have at most 200 fields',
    })
    // Names that are not questions are ignored, as before.
    const ignored = Object.fromEntries(Array.from({ length: 190 }, (_, i) => [`x${i}`, 1]))
    expect(await send('a4', 'submit', { user_id: 'u', q1: 'x', ...ignored })).toMatchObject({ status: 200 })
  })

  test('with many faults is answered with the first five', async () => {
    const { status, error } = await send('b', 'submit', { user_id: 'u', survey: fields(100, {}) })
    expect(status).toBe(400)
    expect(error).toStartWith('survey.q1_0: must be')
    expect(error!.split('; ')).toHaveLength(6)
    expect(error).toEndWith('; and 95 more')
  })
})

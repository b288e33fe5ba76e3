/**
 * Calls of the client that must not compile. Nothing is sent: the compiler is the test, run by `bun run
 * check`.
 */
import { expect, test } from 'bun:test'
import { type Answer, type CheckInAnswer, createClient, type Data, type Input } from '#shared/client/index.ts'

const client = createClient({ baseUrl: 'https://walk.example' })

/** Calls that must not compile. If one does, its unused directive fails the check. */
export const refused = {
  // @ts-expect-error: a misspelt field
  misspelt: () => client.syncTrack({ points: [{ latt: 'typo' }] }),
  // @ts-expect-error: no point
  noPoint: () => client.syncTrack({ points: [42] }),
  // @ts-expect-error: no place
  noPlace: () => client.checkIn({ timestamp: 1 }),
  // @ts-expect-error: a field that nobody knows
  unknown: () => client.checkIn({ lat: 24, lng: 120, colour: 'red' }),
  // @ts-expect-error: no such status
  status: () => client.setStatus({ status: 'stopped' }),
  // @ts-expect-error: whose profile
  whose: () => client.readProfile(),
  // @ts-expect-error: data without a look at `ok`
  unchecked: async () => (await client.readHealth()).data,
}

/**
 * Optional fields may be undefined, even with exactOptionalPropertyTypes, and a cursor is passed as it was
 * received.
 */
export const taken = {
  undefinedFields: (speed: number | undefined) =>
    client.checkIn({ lat: 24, lng: 120, speed, user_id: undefined }),
  points: (accuracy: number | undefined) =>
    client.syncTrack({ points: [{ lat: 24, lng: 120, timestamp: 1, accuracy }] }),
  options: (signal: AbortSignal | undefined) =>
    client.readMap({ since: undefined }, { signal, timeoutMs: undefined }),
  nextPage: async (page: Data<'listUsers'> | undefined) => client.listUsers({ cursor: page?.next_cursor }),
}

test('names the types of calls', () => {
  const input: Input<'checkIn'> = { lat: 24, lng: 120 }
  const take = (answer: Answer<Data<'checkIn'>>): CheckInAnswer | string =>
    answer.ok ? answer.data : answer.error.code
  expect(take({ ok: false, error: { status: 0, code: 'network', message: '' } })).toBe('network')
  expect(input.user_id).toBeUndefined()
})

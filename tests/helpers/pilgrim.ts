/** Requests of a pilgrim's phone. */
import { type Profile, profileEndpoint } from '#shared/contracts/profile.ts'
import { dataOf } from './answers.ts'
import { type Asked, PLACE, type TestStack } from './test-stack.ts'

export const MINUTE = 60_000

/** `POST` of JSON to a path of the API. */
export const post = (
  stack: Asked,
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<Response> =>
  stack.fetch(`/api/event/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

/** A profile as the public sees it, or a caller with these headers. */
export const profileOf = async (
  stack: TestStack,
  userId: string,
  headers: Record<string, string> = {},
): Promise<Profile> => dataOf(await stack.fetch(`/api/event/user/${userId}`, { headers }), profileEndpoint)

/** A walk to the north: `count` points, a minute and about 55.6 m apart. */
export const walk = (count: number, endMs: number) =>
  Array.from({ length: count }, (_, i) => ({
    lat: PLACE.lat + i * 0.0005,
    lng: PLACE.lng,
    timestamp: endMs - (count - 1 - i) * MINUTE,
  }))

/** Builds the request of a call from its one object of fields. */
import { OPERATIONS } from './api.ts'

export interface Identity {
  readonly userId: string
  /** LIFF ID token, where the service verifies who calls (EVENT_IDENTITY=line). */
  readonly idToken?: string | undefined
}

/** A value, or a function that is asked for it before each call. */
type Source<T> = T | undefined | (() => T | undefined | Promise<T | undefined>)

/** Who calls: a pilgrim, an operator, or both. */
export interface Callers {
  /** Fills `user_id`, and the `Authorization` header of a pilgrim's call. */
  readonly identity?: Source<Identity>
  /** An operator's token, for the calls that take one. */
  readonly token?: Source<string>
}

interface BuiltRequest {
  readonly url: string
  /** See {@link OPERATIONS}. */
  readonly flags: string
  readonly init: RequestInit & { readonly headers: Headers }
}

type Fields = Record<string, unknown>

/**
 * Fields that the path names go to the path, `user_id` comes from the identity where it is absent, and the others go
 * to the body, or to the query where the method has no body.
 */
export async function buildRequest(
  base: string,
  operation: keyof typeof OPERATIONS,
  input: Fields,
  given: HeadersInit | undefined,
  callers: Callers,
): Promise<BuiltRequest> {
  const [method, path, flags = ''] = OPERATIONS[operation].split(' ') as [string, string, string?]
  const has = (flag: string): boolean => flags.includes(flag)
  const headers = new Headers(given)
  const fields = { ...input }
  const token = has('a') && (await valueOf(callers.token))
  if (token) headers.set('x-admin-token', token)
  const who = has('u') ? await valueOf(callers.identity) : undefined
  if (who?.idToken) headers.set('authorization', `Bearer ${who.idToken}`)
  if (who && has('h')) headers.set('x-line-user-id', who.userId)
  if (who && (has('b') || has('q'))) fields['user_id'] ??= who.userId
  const address =
    base +
    path.replace('~', '/api/event').replaceAll(/\{(\w+)\}/g, (_, key: string) => {
      const value = String(fields[key])
      delete fields[key]
      return encodeURIComponent(value)
    })
  const withBody = (body: BodyInit): BuiltRequest => ({
    url: address,
    flags,
    init: { method, headers, body },
  })
  if (has('r')) return withBody(fields['body'] as BodyInit)
  if (method === 'GET' || method === 'DELETE')
    return { url: address + queryOf(fields), flags, init: { method, headers } }
  headers.set('content-type', 'application/json')
  return withBody(JSON.stringify(fields))
}

function queryOf(fields: Fields): string {
  const given = Object.entries(fields).filter(([, value]) => (value ?? null) !== null)
  const query = new URLSearchParams(given.map(([key, value]) => [key, String(value)]))
  return given.length > 0 ? `?${query}` : ''
}

export async function valueOf<T extends string | Identity>(source: Source<T>): Promise<T | undefined> {
  return typeof source === 'function' ? source() : source
}

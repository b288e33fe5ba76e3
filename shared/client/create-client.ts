/** The typed client: one method for each operation of the OpenAPI document. */
import { type Answer, exchange, failure, type Fetch, readRefusal, readSuccess } from './answer.ts'
import { OPERATIONS, type Operations } from './api.ts'
import type { StreamEvent, StreamOptions } from './stream.ts'

export interface ClientOptions extends Callers {
  /** Base URL of the service, such as `https://walk.example`. Empty on the service's own pages. */
  readonly baseUrl: string | URL
  /** Used in place of the global `fetch`. */
  readonly fetch?: Fetch | undefined
  /** Timeout of a complete answer, in milliseconds; default 30 s. */
  readonly timeoutMs?: number | undefined
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** An `etag` of an earlier answer. If nothing has changed, the error code is `not-modified`. */
  readonly ifNoneMatch?: string | undefined
}

/** A file from the service. */
export interface Download {
  readonly blob: Blob
  /** The file name set by the service. */
  readonly filename: string | undefined
}

type Method<O extends { input: unknown; data: unknown }> = object extends O['input']
  ? (input?: O['input'], options?: CallOptions) => Promise<Answer<O['data']>>
  : (input: O['input'], options?: CallOptions) => Promise<Answer<O['data']>>

/** Input and answer of an operation: `Input<'checkIn'>`, `Data<'checkIn'>`. */
export type Input<K extends keyof Operations> = Operations[K]['input']
export type Data<K extends keyof Operations> = Operations[K]['data']

export type Client = { readonly [K in keyof Operations]: Method<Operations[K]> } & {
  /** Events for operators, as they happen, with reconnection. Ends when `signal` aborts or the service refuses. */
  stream(options?: StreamOptions): AsyncGenerator<StreamEvent, void, undefined>
  /** The answer of any operation as a file, in the media type `accept`. */
  download<K extends keyof Operations>(
    operation: K,
    input: Input<K>,
    options?: CallOptions & { readonly accept?: string | undefined },
  ): Promise<Answer<Download>>
  identity(): Promise<Identity | undefined>
}

type Fields = Record<string, unknown>
type Form = Parameters<typeof readSuccess>[1]
const FORMS: Record<string, Form> = { j: 'json', t: 'text', o: 'blob' }

/** The base of all paths. @throws TypeError without a scheme: `localhost:8443` would be read as another one */
function baseOf(given: string | URL): string {
  const base = String(given).replace(/\/+$/, '')
  if (base && !/^https?:\/\/./i.test(base))
    throw new TypeError(`baseUrl must begin with https:// or http://, and not be "${base}".`)
  return base
}

/**
 * Creates a client.
 * @throws TypeError for a `baseUrl` without `https://` or `http://`
 * @example
 * const client = createClient({ baseUrl: 'https://walk.example', identity: { userId: 'me' } })
 * const answer = await client.checkIn({ lat: 24.1477, lng: 120.6736, timestamp: Date.now() })
 * console.log(answer.ok ? answer.data.recorded_at : answer.error.message)
 */
export function createClient(options: ClientOptions): Client {
  const { baseUrl, fetch: send = (url, init) => fetch(url, init), timeoutMs = 30_000 } = options
  const base = baseOf(baseUrl)

  async function call(
    name: keyof Operations,
    input: Fields,
    more: CallOptions,
    form?: Form,
  ): Promise<Answer<unknown>> {
    try {
      const etag = more.ifNoneMatch && { 'if-none-match': more.ifNoneMatch }
      const headers = { ...more.headers, ...etag }
      const { url, init, flags } = await buildRequest(base, name, input, headers, options)
      const read = (response: Response) =>
        response.ok
          ? readSuccess(response, form ?? FORMS[flags.at(-1) ?? ''] ?? 'envelope')
          : readRefusal(response)
      const limits = { timeoutMs: more.timeoutMs ?? timeoutMs, signal: more.signal }
      return await exchange(send, url, init, limits, read)
    } catch (error) {
      // The input cannot be JSON (a cycle, a BigInt), or the identity could not be read.
      return failure('unexpected', `The request could not be made: ${(error as Error).message}`)
    }
  }

  const methods = Object.keys(OPERATIONS).map((name) => [
    name,
    (input: Fields = {}, more: CallOptions = {}) => call(name as keyof Operations, input, more),
  ])
  return {
    ...(Object.fromEntries(methods) as { [K in keyof Operations]: Method<Operations[K]> }),
    identity: () => valueOf(options.identity),
    async *stream({ signal, lastEventId, ...query } = {}) {
      try {
        // Only operators' apps need it.
        const { openStream } = await import('./stream.ts')
        const request = () => buildRequest(base, 'openStream', query, undefined, options)
        yield* openStream(send, request, { signal, lastEventId, timeoutMs })
      } catch (error) {
        const lost = failure('network', `The stream could not be loaded: ${(error as Error).message}`)
        yield { event: 'interrupted', data: { error: lost.error, retryInMs: null } }
      }
    },
    async download(name, input, { accept, ...more } = {}) {
      const headers = { ...more.headers, ...(accept ? { accept } : {}) }
      const answer = await call(name, input as Fields, { ...more, headers }, 'blob')
      if (!answer.ok) return answer
      const [, filename] = /filename="([^"]+)"/.exec(answer.headers.get('content-disposition') ?? '') ?? []
      return { ...answer, data: { blob: answer.data as Blob, filename } }
    },
  }
}

// The pilgrim of a call.

export interface Identity {
  readonly userId: string
  /** LIFF ID token, if the service verifies callers (EVENT_IDENTITY=line). */
  readonly idToken?: string | undefined
}

/** A value, or a function that is called before each request. */
type Source<T> = T | undefined | (() => T | undefined | Promise<T | undefined>)

/** The caller: a pilgrim, an operator, or both. */
interface Callers {
  /** Fills `user_id`, and the `Authorization` header of a pilgrim's call. */
  readonly identity?: Source<Identity>
  /** An operator's token, for the calls that need one. */
  readonly token?: Source<string>
}

interface BuiltRequest {
  readonly url: string
  /** See {@link OPERATIONS}. */
  readonly flags: string
  readonly init: RequestInit & { readonly headers: Headers }
}

/**
 * Fields named in the path go to the path, `user_id` defaults to the identity's, and the others go to the body, or to
 * the query if the method has no body.
 */
async function buildRequest(
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

async function valueOf<T extends string | Identity>(source: Source<T>): Promise<T | undefined> {
  return typeof source === 'function' ? source() : source
}

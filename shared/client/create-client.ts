/** The typed client: one method for each operation of the OpenAPI document. */
import { type Answer, failure, readRefusal, readSuccess } from './answer.ts'
import { OPERATIONS, type Operations } from './api.ts'
import { exchange, type Fetch } from './exchange.ts'
import { openStream, type StreamEvent, type StreamOptions } from './stream.ts'

/** The pilgrim who calls. */
export interface Identity {
  readonly userId: string
  /** LIFF ID token, where the service verifies who calls (EVENT_IDENTITY=line). */
  readonly idToken?: string
}

/** A value, or a function that is asked for it before each call. */
export type Source<T> = T | undefined | (() => T | undefined | Promise<T | undefined>)

export interface ClientOptions {
  /** Where the service answers, such as `https://walk.example`. Empty on the service's own pages. */
  readonly baseUrl: string | URL
  /** Fills `user_id`, and the `Authorization` header of a pilgrim's call. */
  readonly identity?: Source<Identity>
  /** An operator's token, for the calls that take one. */
  readonly token?: Source<string>
  /** In place of the global `fetch`. */
  readonly fetch?: Fetch
  /** Time to a complete answer, in milliseconds; 30 s unless given. */
  readonly timeoutMs?: number
}

export interface CallOptions {
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
  readonly headers?: Readonly<Record<string, string>>
  /** An `etag` of an earlier answer. While nothing has changed, the error code is `not-modified`. */
  readonly ifNoneMatch?: string
}

/** A file that the service answers. */
export interface Download {
  readonly blob: Blob
  /** The name that the service gives it. */
  readonly filename: string | undefined
}

type Method<O extends { input: unknown; data: unknown }> = object extends O['input']
  ? (input?: O['input'], options?: CallOptions) => Promise<Answer<O['data']>>
  : (input: O['input'], options?: CallOptions) => Promise<Answer<O['data']>>

/** What an operation takes and answers: `Input<'checkIn'>`, `Data<'checkIn'>`. */
export type Input<K extends keyof Operations> = Operations[K]['input']
export type Data<K extends keyof Operations> = Operations[K]['data']

export type Client = { readonly [K in keyof Operations]: Method<Operations[K]> } & {
  /** Events for operators, as they happen, with reconnection. Ends when `signal` aborts or the service refuses. */
  stream(options?: StreamOptions): AsyncGenerator<StreamEvent, void, undefined>
  /** Any operation's answer as a file, in the media type `accept`. */
  download<K extends keyof Operations>(
    operation: K,
    input: Input<K>,
    options?: CallOptions & { readonly accept?: string },
  ): Promise<Answer<Download>>
  /** The pilgrim who calls now. */
  identity(): Promise<Identity | undefined>
}

type Fields = Record<string, unknown>
type Form = Parameters<typeof readSuccess>[1]
const FORMS: Record<string, Form> = { j: 'json', t: 'text', o: 'blob' }

/**
 * Creates a client.
 * @example
 * const client = createClient({ baseUrl: 'https://walk.example', identity: { userId: 'me' } })
 * const answer = await client.checkIn({ lat: 24.1477, lng: 120.6736, timestamp: Date.now() })
 * console.log(answer.ok ? answer.data.recorded_at : answer.error.message)
 */
export function createClient(options: ClientOptions): Client {
  const { baseUrl, fetch: send = (url, init) => fetch(url, init), timeoutMs = 30_000 } = options
  const base = String(baseUrl).replace(/\/+$/, '')

  /** The request of a call: fields go to the path, then to the body or the query. */
  async function requestOf(name: keyof typeof OPERATIONS, input: Fields, more: CallOptions) {
    const [method, path, flags = ''] = OPERATIONS[name].split(' ') as [string, string, string?]
    const has = (flag: string): boolean => flags.includes(flag)
    const fields: Fields = { ...input }
    const headers = new Headers(more.headers)
    const token = has('a') && (await valueOf(options.token))
    if (token) headers.set('x-admin-token', token)
    if (more.ifNoneMatch) headers.set('if-none-match', more.ifNoneMatch)
    const who = has('u') ? await valueOf(options.identity) : undefined
    if (who?.idToken) headers.set('authorization', `Bearer ${who.idToken}`)
    if (who && has('h')) headers.set('x-line-user-id', who.userId)
    if (who && (has('b') || has('q'))) fields['user_id'] ??= who.userId
    let url =
      base +
      path.replaceAll(/\{(\w+)\}/g, (_, key: string) => {
        const value = String(fields[key])
        delete fields[key]
        return encodeURIComponent(value)
      })
    let body: BodyInit | null = null
    if (has('r')) body = fields['body'] as BodyInit
    else if (method === 'GET' || method === 'DELETE') {
      const given = Object.entries(fields).filter(([, value]) => (value ?? null) !== null)
      if (given.length > 0)
        url += `?${new URLSearchParams(given.map(([key, value]) => [key, String(value)]))}`
    } else {
      body = JSON.stringify(fields)
      headers.set('content-type', 'application/json')
    }
    return { url, flags, init: { method, headers, ...(body === null ? {} : { body }) } }
  }

  async function call(
    name: keyof Operations,
    input: Fields,
    more: CallOptions,
    form?: Form,
  ): Promise<Answer<unknown>> {
    try {
      const { url, init, flags } = await requestOf(name, input, more)
      const read = (response: Response) =>
        response.ok
          ? readSuccess(response, form ?? FORMS[flags.at(-1) ?? ''] ?? 'envelope')
          : readRefusal(response)
      return await exchange(send, url, init, { timeoutMs, ...more }, read)
    } catch (error) {
      // The input is no JSON (a cycle, a BigInt), or the identity could not be read.
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
    stream: ({ signal, lastEventId, ...query } = {}) =>
      openStream(send, async () => requestOf('openStream', query, {}), { signal, lastEventId, timeoutMs }),
    async download(name, input, { accept, ...more } = {}) {
      const headers = { ...more.headers, ...(accept ? { accept } : {}) }
      const answer = await call(name, input as Fields, { ...more, headers }, 'blob')
      if (!answer.ok) return answer
      const [, filename] = /filename="([^"]+)"/.exec(answer.headers.get('content-disposition') ?? '') ?? []
      return { ...answer, data: { blob: answer.data as Blob, filename } }
    },
  }
}

async function valueOf<T extends string | Identity>(source: Source<T>): Promise<T | undefined> {
  return typeof source === 'function' ? source() : source
}

/**
 * Caches the serialized answers of popular endpoints for a moment. Concurrent requests share one computation; errors
 * are not cached.
 */
import type { Elapsed, StartStopwatch } from '#shared/runtime/clock.ts'
import type { Operator } from '#shared/service/security/admin-auth.ts'
import { taggedResponse } from './headers.ts'

interface CachedAnswer {
  /** A Blob, because an array of bytes would be copied for each response. */
  readonly body: Blob
  readonly tag: string
}

interface Entry {
  readonly age: Elapsed
  readonly making: Promise<CachedAnswer>
  cached: CachedAnswer | null
}

/** Maximum number of cache keys per endpoint; each answer has up to two. */
const MAX_KEYS = 256

/** The key contains the role, because the answer to an operator may contain more than the public one. */
const cacheKey = (operator: Operator | null, what: string): string => `${operator?.role ?? 'public'} ${what}`

const pathAndQuery = ({ url }: Request): string => url.slice(url.indexOf('/', url.indexOf('//') + 2))

function cachedAnswer(text: string): CachedAnswer {
  return { body: new Blob([text]), tag: `"${Bun.hash(text).toString(36)}"` }
}

type Headers = Record<string, string>
/** Returns the common headers; called only when there is an answer. */
type HeadersOf = () => Headers
const NONE: HeadersOf = () => ({})

/** Creates the response. Clients may cache it but must revalidate it each time. */
function answerWith(
  request: Request,
  operator: Operator | null,
  { body, tag }: CachedAnswer,
  headers: Headers,
): Response {
  headers['cache-control'] = operator === null ? 'no-cache' : 'private, no-cache'
  return taggedResponse(request, tag, body, headers, { 'content-type': 'application/json;charset=utf-8' })
}

/** The cache of one endpoint, whose answers depend only on the request and the caller's role. */
export class ResponseCache {
  /** Approximately in order of expiry. */
  readonly #entries = new Map<string, Entry>()

  /** @param cacheMs lifetime, from the start of the computation, in milliseconds */
  constructor(
    private readonly cacheMs: number,
    private readonly stopwatch: StartStopwatch,
  ) {}

  find(request: Request, operator: Operator | null, headersOf = NONE): Response | null {
    const cached = this.#fresh(cacheKey(operator, pathAndQuery(request)))?.cached
    return cached ? answerWith(request, operator, cached, headersOf()) : null
  }

  /**
   * Returns the answer to a request from the cache, or computes it.
   * @param what the parsed request, the same for all spellings of it
   * @param make computes the JSON of the answer
   */
  async answer(
    request: Request,
    operator: Operator | null,
    what: unknown,
    make: () => Promise<string>,
    headersOf = NONE,
  ): Promise<Response> {
    const key = cacheKey(operator, JSON.stringify(what))
    let entry = this.#fresh(key)
    if (entry === null) {
      entry = { age: this.stopwatch(), making: make().then(cachedAnswer), cached: null }
      this.#store(key, entry)
    }
    try {
      entry.cached = await entry.making
    } catch (error) {
      if (this.#entries.get(key) === entry) this.#entries.delete(key)
      throw error
    }
    this.#store(cacheKey(operator, pathAndQuery(request)), entry)
    return answerWith(request, operator, entry.cached, headersOf())
  }

  #fresh(key: string): Entry | null {
    const entry = this.#entries.get(key)
    return entry !== undefined && entry.age() < this.cacheMs ? entry : null
  }

  #store(key: string, entry: Entry): void {
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    for (const [oldest, { age }] of this.#entries) {
      if (this.#entries.size <= MAX_KEYS && age() < this.cacheMs) return
      this.#entries.delete(oldest)
    }
  }
}

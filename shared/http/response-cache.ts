/**
 * Answers that many people read, kept for a moment as the bytes that go out. However many ask at once, each is made
 * once; what fails is not kept.
 */
import type { Operator } from '#shared/security/admin-auth.ts'
import { matchesEtag } from './etag.ts'

/** An answer as it goes out, with its entity tag, quotes included. */
interface Kept {
  /** Not an array of bytes, which would be copied for each answer. */
  readonly body: Blob
  readonly tag: string
}

interface Entry {
  readonly untilMs: number
  readonly making: Promise<Kept>
  /** The answer, once it is there. */
  kept: Kept | null
}

/** Names of one endpoint's answers that are held at most; each answer has up to two. */
const MAX_NAMES = 256

/** With a token the same address may tell more: operators never share an answer with the public. */
const nameOf = (operator: Operator | null, what: string): string => `${operator?.role ?? 'public'} ${what}`

/** Path and query as they were sent. */
const addressIn = ({ url }: Request): string => url.slice(url.indexOf('/', url.indexOf('//') + 2))

function keptOf(text: string): Kept {
  return { body: new Blob([text]), tag: `"${Bun.hash(text).toString(36)}"` }
}

type Headers = Record<string, string>
/** What every answer carries; asked for only when there is one. */
type HeadersOf = () => Headers
const NONE: HeadersOf = () => ({})

/** Clients may keep an answer, and ask each time whether it still holds. */
function answerWith(
  request: Request,
  operator: Operator | null,
  { body, tag }: Kept,
  headers: Headers,
): Response {
  headers.etag = tag
  headers['cache-control'] = operator === null ? 'no-cache' : 'private, no-cache'
  if (matchesEtag(request, tag)) return new Response(null, { status: 304, headers })
  headers['content-type'] = 'application/json;charset=utf-8'
  return new Response(body, { headers })
}

/** Kept answers of one endpoint, which depend on nothing but what is asked and the role of who asks. */
export class ResponseCache {
  /** About in the order in which they end. */
  readonly #entries = new Map<string, Entry>()

  /** @param keepMs from the moment on in which an answer was begun */
  constructor(
    private readonly keepMs: number,
    private readonly now: () => number,
  ) {}

  /** The answer to a request that was made in just these words a moment ago. */
  find(request: Request, operator: Operator | null, headersOf = NONE): Response | null {
    const kept = this.#young(nameOf(operator, addressIn(request)))?.kept
    return kept ? answerWith(request, operator, kept, headersOf()) : null
  }

  /**
   * The answer to a request, made if need be.
   * @param what the request as it was understood, whatever its words and what was ignored in it
   * @param make the answer's JSON
   */
  async answer(
    request: Request,
    operator: Operator | null,
    what: unknown,
    make: () => Promise<string>,
    headersOf = NONE,
  ): Promise<Response> {
    const name = nameOf(operator, JSON.stringify(what))
    let entry = this.#young(name)
    if (entry === null) {
      entry = { untilMs: this.now() + this.keepMs, making: make().then(keptOf), kept: null }
      this.#keep(name, entry)
    }
    try {
      entry.kept = await entry.making
    } catch (error) {
      if (this.#entries.get(name) === entry) this.#entries.delete(name)
      throw error
    }
    this.#keep(nameOf(operator, addressIn(request)), entry)
    return answerWith(request, operator, entry.kept, headersOf())
  }

  #young(name: string): Entry | null {
    const entry = this.#entries.get(name)
    return entry !== undefined && this.now() < entry.untilMs ? entry : null
  }

  #keep(name: string, entry: Entry): void {
    this.#entries.delete(name)
    this.#entries.set(name, entry)
    for (const [oldest, { untilMs }] of this.#entries) {
      if (this.#entries.size <= MAX_NAMES && this.now() < untilMs) return
      this.#entries.delete(oldest)
    }
  }
}

/** The requests of phones and operators during one fault, and which of them were acknowledged. */

/** A check-in without a time, identified by its place. */
export interface Timeless {
  readonly userId: string
  readonly lat: number
  readonly lng: number
  answered: boolean
}

/** A message that an operator requested. `certain`: acknowledged, so each recipient gets it once. */
export interface Caused {
  readonly text: string
  readonly recipients: readonly string[]
  readonly certain: boolean
}

export class RecordedRequests {
  requests = 0
  /** Number of answers by status; `none` is no answer. */
  readonly statuses = new Map<string, number>()
  /** Identities of acknowledged points, by pilgrim. */
  readonly points = new Map<string, Set<string>>()
  readonly timeless: Timeless[] = []
  readonly surveys = new Map<string, object>()
  readonly phoneNumbers = new Map<string, string>()
  readonly messages: Caused[] = []
  /** Photos that the bot accepted, by sender. */
  readonly photos = new Map<string, number>()
  /** Errors that no fault may cause: each kind with its first example. */
  readonly complaints = new Map<string, string>()
  /** Set from the confirmation of a pause until the resume is sent; each pause is another object. */
  paused: object | null = null

  /** @param mayRefuse text of a 400 that is correct during this fault */
  constructor(
    readonly name: string,
    readonly mayRefuse?: RegExp,
  ) {}

  get answered(): number {
    const timed = [...this.points.values()].reduce((sum, fields) => sum + fields.size, 0)
    return timed + this.timeless.filter(({ answered }) => answered).length
  }

  promise(userId: string, fields: readonly string[]): void {
    const known = this.points.get(userId) ?? new Set()
    for (const field of fields) known.add(field)
    this.points.set(userId, known)
  }

  complain(kind: string, example: string): void {
    if (!this.complaints.has(kind)) this.complaints.set(kind, example.slice(0, 300))
  }
}

/** A response, or none. */
export interface Reply {
  readonly status: number
  readonly text: string
  /** Seconds. */
  readonly retryAfter: number
}

const TIMEOUT_MS = 10_000
const NO_REPLY: Reply = { status: 0, text: '', retryAfter: 0 }

export type Fetch = (path: string, init?: RequestInit) => Promise<Response>

/** Sends a request as a phone does, and records its answer. */
export async function send(
  fetch: Fetch,
  recorded: RecordedRequests,
  path: string,
  init: RequestInit,
): Promise<Reply> {
  recorded.requests++
  const { paused } = recorded
  const reply = await request(fetch, path, init)
  const name = reply.status === 0 ? 'none' : `${reply.status}`
  recorded.statuses.set(name, (recorded.statuses.get(name) ?? 0) + 1)
  const about = `${path} ${reply.text}`
  if (reply.status >= 500 && reply.status !== 503) recorded.complain(`answers ${reply.status}`, about)
  if (reply.status === 503 && reply.retryAfter === 0) recorded.complain('503 without Retry-After', about)
  if (reply.status === 429) recorded.complain('429 within the limit', about)
  const isAccepted = reply.status === 202 || (reply.status === 200 && path.endsWith('/sync'))
  if (isAccepted && paused !== null && recorded.paused === paused)
    recorded.complain('accepted while paused', about)
  if ([400, 404, 405, 413].includes(reply.status) && recorded.mayRefuse?.test(reply.text) !== true)
    recorded.complain(`answers ${reply.status}`, about)
  return reply
}

/** `fetch` for a client of the service, which records every response as {@link send} does. */
export const recordingFetch =
  (fetch: Fetch, recorded: RecordedRequests): Fetch =>
  async (path, init = {}) => {
    const { status, text, retryAfter } = await send(fetch, recorded, path, init)
    if (status === 0) throw new TypeError('no answer')
    return new Response(text, { status, headers: retryAfter > 0 ? { 'retry-after': `${retryAfter}` } : {} })
  }

async function request(fetch: Fetch, path: string, init: RequestInit): Promise<Reply> {
  try {
    const response = await fetch(path, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) })
    const text = await response.text()
    return { status: response.status, text, retryAfter: Number(response.headers.get('retry-after') ?? 0) }
  } catch {
    // No listener, or a broken connection: the outcome of the request is unknown.
    return NO_REPLY
  }
}

export const json = (body: object, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

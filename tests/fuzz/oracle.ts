/** The test oracle: which answers a request may get, and what no answer may contain. */
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { ErrorBody } from '#shared/contracts/errors.ts'
import { UNFINISHED } from './framing.ts'
import type { Description, FuzzRequest } from './requests.ts'
import type { Answer, Outcome } from './wire.ts'

/** Internal details: stack traces, code, SQL, paths, names of components. */
const LEAKS = [
  /\bat (async )?\S+ \(?[^)\s]*:\d+:\d+/,
  /node_modules|\.[jt]s:\d+|file:\/\/\/|\/(tmp|home|root|usr|var|etc|app)\//,
  /\b(SELECT|INSERT|UPDATE|DELETE) .*\b(FROM|INTO|SET|WHERE)\b|syntax error|violates|PostgresError|relation "/,
  /\b(postgres|redis|ioredis|nats|drizzle|pglite|elysia|sqlite|satori|resvg)\b/i,
  /\b(TypeError|RangeError|SyntaxError|ReferenceError|ZodError|ECONN\w+|ENOENT|EPIPE)\b/,
]

/** Additional statuses for invalid HTTP, and for an altered method or target. */
const REFUSED = [400, 401, 403, 404, 405, 408, 411, 413, 414, 415, 417, 421, 429, 431]
const NO_HTTP = [...REFUSED, 501, 505]

/** These have their own timeouts, which a store can exceed on a busy machine. */
const BOUNDED = ['POST /api/event/webhook', 'GET /health', 'GET /api/event/admin/end-activity']

const pathOf = (path: string): string => path.replaceAll(/:(\w+)/g, '{$1}')
const byOperation = new Map(
  ENDPOINTS.map((endpoint) => [`${endpoint.method} ${pathOf(endpoint.path)}`, endpoint]),
)

/** Tracker apps keep their points on a 503: that is how they are told to wait, for a pause or for a wrong clock. */
const isToldToWait = ({ operation, method }: FuzzRequest, { status, body }: Answer): boolean =>
  status === 503 &&
  operation.includes('/ingest/') &&
  (method === 'HEAD' || /"code":"(paused|too-slow)"|lie in the future/.test(body.toString()))

/** The runtime refuses a head of more than 16 kB before any code of the service runs. */
const isLongHead = ({ target }: FuzzRequest, { status }: Answer): boolean =>
  status === 431 && target.length > 15_000

function statusFault(request: FuzzRequest, answer: Answer, declared: readonly number[]): string | null {
  const { status } = answer
  if (declared.includes(status) && status < 500) return null
  if (status === 503 && BOUNDED.includes(request.operation)) return null
  if (isToldToWait(request, answer) || isLongHead(request, answer)) return null
  if (!request.sound && (NO_HTTP.includes(status) || status < 300)) return null
  if (request.bent && (REFUSED.includes(status) || status === 501 || status < 300 || status === 304))
    return null
  if (status === 404 && request.target.includes('%')) return null
  return `status ${status} is not declared`
}

/** A health report has its own form for errors. */
const isReport = ({ operation }: FuzzRequest, status: number): boolean =>
  operation === 'GET /health' && status === 503

/** The page of a link is for people: it refuses with a page. */
const isPage = ({ operation }: FuzzRequest, text: string): boolean =>
  operation === 'GET /s/{file}' && text.startsWith('<!doctype html>')

/** A refusal is a sentence in the common envelope. */
function envelopeFault(request: FuzzRequest, answer: Answer): string | null {
  const { status, headers, body } = answer
  if (
    status < 400 ||
    request.method === 'HEAD' ||
    !request.sound ||
    isReport(request, status) ||
    isLongHead(request, answer)
  )
    return null
  const text = body.toString()
  if (isPage(request, text)) return null
  try {
    const { error, code } = ErrorBody.strict().parse(JSON.parse(text))
    // Operators choose the wording of the pause message.
    if (code !== 'paused' && !/^[A-Z]?.{10,}/s.test(error)) return 'the error is not a sentence'
  } catch {
    return `the refusal has no envelope: ${text.slice(0, 200)}`
  }
  return headers.get('x-request-id') === null ? 'no X-Request-Id' : null
}

/** A success has exactly the data that the contract declares. */
function dataFault(request: FuzzRequest, { status, headers, body }: Answer): string | null {
  const endpoint = byOperation.get(request.operation)
  if (status >= 300 || request.bent || !request.sound || endpoint === undefined) return null
  if (endpoint.media !== null || headers.get('content-type') !== 'application/json;charset=utf-8') return null
  const { data } = JSON.parse(body.toString()) as { data: unknown }
  const parsed = endpoint.data.safeParse(data)
  if (!parsed.success) return `the data do not match the declaration: ${parsed.error.issues[0]?.message}`
  if (!Bun.deepEquals(parsed.data, data)) return 'the data contain more than is declared'
  return partFault(data)
}

/** More names than any form, list of modes, days or counters has. */
const MOST_KEYS = 400

/**
 * Finds faults anywhere in the data of an answer: an address that a browser would run, or an unbounded number of
 * names.
 */
function partFault(part: unknown): string | null {
  if (typeof part !== 'object' || part === null) return null
  const members = Object.entries(part)
  if (!Array.isArray(part) && members.length > MOST_KEYS)
    return 'an object of an answer has an unbounded number of names'
  for (const [key, value] of members) {
    const isAddress = /(^|_)url$/.test(key) && typeof value === 'string'
    if (isAddress && !value.toLowerCase().startsWith('https://')) return `${key} is no https address`
    const inside = partFault(value)
    if (inside !== null) return inside
  }
  return null
}

/** An answer may repeat what the client has sent. */
function leakFault(request: FuzzRequest, { status, headers, body }: Answer): string | null {
  const sent = `${request.body.toString()} ${request.target} ${request.headers.flat().join(' ')}`
  // The client's own request id is returned, and may look like code.
  const own = headers.get('x-request-id') || '\n'
  const texts = [
    status >= 400 ? body.toString() : '',
    ...[...headers].map(([name, value]) => `${name}: ${value}`),
  ].map((text) => text.replaceAll(own, '…'))
  for (const leak of LEAKS) {
    const found = texts.map((text) => leak.exec(text)?.[0]).find(Boolean)
    if (found !== undefined && !sent.includes(found)) return `an answer contains ${JSON.stringify(found)}`
  }
  if (headers.has('server') || headers.has('x-powered-by')) return 'an answer names its server'
  return null
}

/** @returns the statuses that the document declares for an operation */
export const declaredBy = (document: Description, operation: string): number[] => {
  const [method, path] = operation.split(' ')
  const found = document.paths[path!]?.[method!.toLowerCase()] as
    | { responses: Record<string, unknown> }
    | undefined
  return Object.keys(found?.responses ?? {}).map(Number)
}

/** @returns the fault of an outcome; null without one */
export function faultOf(request: FuzzRequest, outcome: Outcome, declared: readonly number[]): string | null {
  if (outcome === 'silent') return UNFINISHED.includes(request.framing) ? null : 'no answer in time'
  if (outcome === 'garbled') return request.sound ? 'the answer is not valid HTTP' : null
  if (outcome === 'closed')
    return request.sound && !request.bent ? 'the connection was closed without an answer' : null
  return (
    leakFault(request, outcome) ??
    statusFault(request, outcome, declared) ??
    envelopeFault(request, outcome) ??
    dataFault(request, outcome)
  )
}

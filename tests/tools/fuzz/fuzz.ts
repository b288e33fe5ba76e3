/** Sends many concurrent requests and judges each answer. A failing request is shrunk and printed. */
import { withoutReferences } from './references.ts'
import fc from 'fast-check'
import { admin, setStatus, type TestStack } from '#tests/helpers/test-stack.ts'
import { newPushKeys } from '#tests/helpers/push-service.ts'
import { createExisting } from './existing.ts'
import { UNFINISHED, type Framing, SOUND } from './framing.ts'
import { type Description, type FuzzRequest, requests } from './requests.ts'
import { type Outcome, openWire, type Wire, type Answer } from './wire.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { ErrorBody } from '#shared/contracts/errors.ts'

const chunk = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
function chunks(body: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < body.length; at += 1_000) parts.push(chunk(body.subarray(at, at + 1_000)))
  return Buffer.concat(parts)
}
const END = '0\r\n\r\n'

/** Header lines and body of each framing. */
function payload(kind: Framing, body: Buffer): readonly [lines: readonly string[], bytes: Buffer] {
  const coded = ['Transfer-Encoding: chunked']
  const whole = Buffer.concat([chunks(body), Buffer.from(END)])
  switch (kind) {
    case 'chunked':
      return [coded, whole]
    case 'declares-more':
      return [[`Content-Length: ${body.length + 50}`], body]
    case 'declares-less':
      return [[`Content-Length: ${Math.floor(body.length / 2)}`], body]
    case 'bad-length':
      return [[`Content-Length: ${['-1', '+5', '1e3', '0x10', '5 5', 'x', ''][body.length % 7]}`], body]
    case 'two-lengths':
      return [[`Content-Length: ${body.length}`, `Content-Length: ${body.length + 1}`], body]
    case 'length-and-chunked':
      return [[`Content-Length: ${body.length}`, ...coded], whole]
    case 'bad-chunk':
      return [coded, Buffer.concat([Buffer.from('zz\r\n'), body, Buffer.from('\r\n')])]
    case 'cut-chunk':
      return [coded, chunks(body)]
    case 'huge-chunk':
      return [coded, Buffer.concat([Buffer.from('ffffffffffffffff\r\n'), body])]
    case 'odd-coding':
      return [['Transfer-Encoding: gzip, chunked'], whole]
    case 'bare-line-feeds':
    case 'bad-header':
    case 'no-host':
    case 'two-hosts':
    case 'bad-version':
    case 'length':
      return [body.length === 0 ? [] : [`Content-Length: ${body.length}`], body]
  }
}

/** @returns the bytes of a request */
function bytesOf(request: {
  readonly method: string
  readonly target: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Buffer
  readonly framing: Framing
}): Buffer {
  const { method, target, headers, body, framing: kind } = request
  const [lines, bytes] = payload(kind, body)
  const head = [
    `${method} ${target} HTTP/${kind === 'bad-version' ? '9.9' : '1.1'}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...lines,
    ...(kind === 'bad-header' ? ['No colon', 'Nul: a\u0000b', ' Folded: x', 'Sp ace: y'] : []),
    ...((SOUND as readonly string[]).includes(kind) ? [] : ['Connection: close']),
  ].join(kind === 'bare-line-feeds' ? '\n' : '\r\n')
  const end = kind === 'bare-line-feeds' ? '\n\n' : '\r\n\r\n'
  return Buffer.concat([Buffer.from(head + end, 'latin1'), bytes])
}

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

/** Tracker apps keep their points on a 503, which makes them wait during a pause or with a wrong clock. */
const isToldToWait = ({ operation, method }: FuzzRequest, { status, body }: Answer): boolean =>
  status === 503 &&
  operation.includes('/ingest/') &&
  (method === 'HEAD' || /"code":"(paused|too-slow)"|lie in the future/.test(body.toString()))

/** The runtime rejects a head of more than 16 kB before any code of the service runs. */
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

/** The share page is for people: its errors are pages. */
const isPage = ({ operation }: FuzzRequest, text: string): boolean =>
  operation === 'GET /s/{file}' && text.startsWith('<!doctype html>')

/** An error is a sentence in the common envelope. */
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
const declaredBy = (document: Description, operation: string): number[] => {
  const [method, path] = operation.split(' ')
  const found = document.paths[path!]?.[method!.toLowerCase()] as
    | { responses: Record<string, unknown> }
    | undefined
  return Object.keys(found?.responses ?? {}).map(Number)
}

/** @returns the fault of an outcome; null without one */
function faultOf(request: FuzzRequest, outcome: Outcome, declared: readonly number[]): string | null {
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

/** Rate limits above the fuzzer's rate, and Web Push to an address where nothing responds. */
export const UNLIMITED = {
  ...newPushKeys(),
  EVENT_PUSH_SERVICES: '127.0.0.1:9',
  ...Object.fromEntries(
    ['CHECKIN', 'SYNC', 'INGEST', 'SURVEY', 'USER_WRITE', 'ADDRESS_WRITE', 'ADDRESS', 'ADMIN'].map((name) => [
      `EVENT_LIMIT_${name}`,
      '1000000000',
    ]),
  ),
}

const WORKERS = 16
/** Longer than the 25 s after which a service times out. */
const ANSWER_MS = 28_000
/** After this time the client closes the connection of an unfinished request. */
const UNFINISHED_MS = 200

export interface Finding {
  readonly operation: string
  readonly fault: string
  readonly seed: number
  /** Requests sent before it was found, those for shrinking included. */
  readonly after: number
  /** A shell command that repeats the request. */
  readonly line: string
  readonly answer: string
}

export interface Report {
  readonly sent: number
  readonly statuses: ReadonlyMap<string, number>
  readonly findings: readonly Finding[]
  /** Requests that were answered with 503, with the reasons. */
  readonly away: readonly string[]
  readonly slowest: { readonly ms: number; readonly operation: string }
}

export interface Options {
  readonly requests: number
  readonly seed: number
  /** Called regularly with the number of requests sent. */
  readonly onProgress?: (sent: number, findings: number) => void
}

const escaped = (bytes: Buffer): string =>
  [...bytes]
    .map((byte) =>
      byte >= 0x20 && byte < 0x7f && !"'\\%".includes(String.fromCharCode(byte))
        ? String.fromCharCode(byte)
        : `\\x${byte.toString(16).padStart(2, '0')}`,
    )
    .join('')

const SHOWN_BYTES = 4_000
const shellLine = (bytes: Buffer, port: number): string =>
  `printf '${escaped(bytes.subarray(0, SHOWN_BYTES))}'${bytes.length > SHOWN_BYTES ? ` # and ${bytes.length - SHOWN_BYTES} bytes more` : ''} | openssl s_client -quiet -connect localhost:${port}`

const shown = (outcome: Outcome): string =>
  typeof outcome === 'string' ? outcome : `${outcome.status} ${outcome.body.toString().slice(0, 300)}`

class Failure extends Error {
  constructor(
    readonly request: FuzzRequest,
    readonly outcome: Outcome,
    readonly fault: string,
    readonly after: number,
  ) {
    super(fault)
  }
}

/** The kind of a fault: its text without digits and quotations, which differ between requests. */
const kindOf = ({ operation, bent, sound }: FuzzRequest, fault: string): string =>
  `${bent ? 'bent' : sound ? operation : 'unsound'}: ${fault.replaceAll(/\d{4,}|"[^"]*"/g, '…')}`

/** Sends the requests and judges each answer. */
export async function fuzz(
  stack: TestStack,
  { requests: wanted, seed, onProgress }: Options,
): Promise<Report> {
  const document = withoutReferences(
    (await (await stack.fetch('/api/event/openapi.json')).json()) as Description,
  )
  const tokens = (['owner', 'manager', 'volunteer'] as const).map((role) => admin(role)['X-Admin-Token'])
  const arbitrary = requests(document, { tokens, existing: await createExisting(stack) })
  const found = new Map<string, Finding>()
  const statuses = new Map<string, number>()
  const away: string[] = []
  const traceFault = createTrace(stack)
  let sent = 0
  let slowest = { ms: 0, operation: '' }

  const judge = async (wire: Wire, request: FuzzRequest) => {
    const started = performance.now()
    const outcome = await wire.send(bytesOf(request), {
      last: !request.sound,
      bodyless: request.method === 'HEAD',
      withinMs: UNFINISHED.includes(request.framing) ? UNFINISHED_MS : ANSWER_MS,
    })
    const ms = performance.now() - started
    if (ms > slowest.ms) slowest = { ms, operation: request.operation }
    const label = typeof outcome === 'string' ? outcome : String(outcome.status)
    statuses.set(label, (statuses.get(label) ?? 0) + 1)
    if (typeof outcome === 'object' && outcome.status === 503)
      away.push(`${request.operation} after ${Math.round(ms)} ms: ${shown(outcome)}`)
    if (++sent % 1_000 === 0) onProgress?.(sent, found.size)
    if (
      request.operation === 'PUT /api/event/admin/status' &&
      typeof outcome === 'object' &&
      outcome.status === 200
    )
      await setStatus(stack, { status: 'active' })
    const fault =
      faultOf(request, outcome, declaredBy(document, request.operation)) ??
      (await traceFault(request, outcome))
    if (fault !== null && !found.has(kindOf(request, fault))) throw new Failure(request, outcome, fault, sent)
  }

  const work = async (worker: number) => {
    const wire = openWire(stack)
    const property = fc.asyncProperty(arbitrary, (request) => judge(wire, request))
    for (let left = Math.ceil(wanted / WORKERS), round = 0; left > 0; round++) {
      const used = seed + worker * 1_000_003 + round * 7
      const run = await fc.check(property, { seed: used, numRuns: left, endOnFailure: false })
      left -= Math.max(1, run.numRuns)
      if (!run.failed) break
      if (!(run.errorInstance instanceof Failure)) throw run.errorInstance
      const { request, outcome, fault, after } = run.errorInstance
      found.set(kindOf(request, fault), {
        operation: request.operation,
        fault,
        seed: used,
        after,
        line: shellLine(bytesOf(request), stack.port),
        answer: shown(outcome),
      })
    }
    wire.close()
  }
  await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)))
  return { sent, statuses, findings: [...found.values()], away, slowest }
}

/** After this many refused writes, one is checked for a pilgrim that it left behind. */
const TRACED = 10

/** A rejected request must store nothing, not even the pilgrim whom it names. */
function createTrace(stack: TestStack) {
  let refused = 0
  // During shrinking a variant of the request may be accepted.
  const accepted = new Set<string>()
  return async ({ userId, sound }: FuzzRequest, outcome: Outcome): Promise<string | null> => {
    if (userId === null || typeof outcome === 'string') return null
    if (outcome.status < 300) accepted.add(userId)
    if (!sound || ![400, 413].includes(outcome.status) || accepted.has(userId)) return null
    if (++refused % TRACED !== 0) return null
    const { status } = await stack.fetch(`/api/event/user/${userId}`)
    // Values that cannot be ids are rejected here too.
    return status === 404 || status === 400
      ? null
      : `refused with ${outcome.status}, and yet the pilgrim is known (${status})`
  }
}

/** Sends many concurrent requests and judges each answer. A failing request is shrunk and printed. */
import { withoutReferences } from './references.ts'
import fc from 'fast-check'
import { admin, setStatus, type TestStack } from '#tests/helpers/test-stack.ts'
import { newPushKeys } from '#tests/helpers/push-service.ts'
import { bytesOf } from './bytes.ts'
import { createExisting } from './existing.ts'
import { UNFINISHED } from './framing.ts'
import { declaredBy, faultOf } from './oracle.ts'
import { type Description, type FuzzRequest, requests } from './requests.ts'
import { type Outcome, openWire, type Wire } from './wire.ts'

/** Rate limits above what the fuzzer sends, and Web Push to a place where nothing answers. */
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

/** A refused request must store nothing, not even the pilgrim whom it names. */
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
    // What can not be an id is refused here, too.
    return status === 404 || status === 400
      ? null
      : `refused with ${outcome.status}, and yet the pilgrim is known (${status})`
  }
}

/** Many requests at once, each judged by itself; a failing one is made as small as it goes and printed. */
import fc from 'fast-check'
import { admin, setStatus, type World } from '#tests/helpers/test-stack.ts'
import { bytesOf } from './bytes.ts'
import { UNFINISHED } from './framing.ts'
import { declaredBy, faultOf } from './oracle.ts'
import { type Description, type FuzzRequest, requests } from './requests.ts'
import { type Outcome, openWire, type Wire } from './wire.ts'

/** Limits that a fuzzer does not meet. */
export const UNLIMITED = Object.fromEntries(
  ['CHECKIN', 'SYNC', 'SURVEY', 'USER_WRITE', 'ADDRESS_WRITE', 'ADDRESS', 'ADMIN'].map((name) => [
    `EVENT_LIMIT_${name}`,
    '1000000000',
  ]),
)

const WORKERS = 16
/** A service gives up by itself after 25 s. */
const ANSWER_MS = 28_000
/** After so long a client hangs up whose request is not finished. */
const UNFINISHED_MS = 200

export interface Finding {
  readonly operation: string
  readonly fault: string
  readonly seed: number
  /** How many requests had been sent when it was found, those included that make a finding smaller. */
  readonly after: number
  /** A line for a shell that sends the request again. */
  readonly line: string
  readonly answer: string
}

export interface Report {
  readonly sent: number
  readonly statuses: ReadonlyMap<string, number>
  readonly findings: readonly Finding[]
  /** What was answered with 503, and why. */
  readonly away: readonly string[]
  readonly slowest: { readonly ms: number; readonly operation: string }
}

export interface Options {
  readonly requests: number
  readonly seed: number
  /** Called now and then with the requests sent so far. */
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

/** Digits and quotations differ from request to request; the kind of fault is what is left. */
const kindOf = ({ operation, bent, sound }: FuzzRequest, fault: string): string =>
  `${bent ? 'bent' : sound ? operation : 'unsound'}: ${fault.replaceAll(/\d{4,}|"[^"]*"/g, '…')}`

/** Sends so many requests and judges each. */
export async function fuzz(world: World, { requests: wanted, seed, onProgress }: Options): Promise<Report> {
  const document = (await (await world.fetch('/api/event/openapi.json')).json()) as Description
  const tokens = (['owner', 'manager', 'volunteer'] as const).map((role) => admin(role)['X-Admin-Token'])
  const arbitrary = requests(document, tokens)
  const found = new Map<string, Finding>()
  const statuses = new Map<string, number>()
  const away: string[] = []
  const traceFault = createTrace(world)
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
      await setStatus(world, { status: 'active' })
    const fault =
      faultOf(request, outcome, declaredBy(document, request.operation)) ??
      (await traceFault(request, outcome))
    if (fault !== null && !found.has(kindOf(request, fault))) throw new Failure(request, outcome, fault, sent)
  }

  const work = async (worker: number) => {
    const wire = openWire(world)
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
        line: shellLine(bytesOf(request), world.port),
        answer: shown(outcome),
      })
    }
    wire.close()
  }
  await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)))
  return { sent, statuses, findings: [...found.values()], away, slowest }
}

/** Every so many refused writes it is looked whether they left a pilgrim behind. */
const TRACED = 10

/** A request that is refused leaves nothing behind, not even the pilgrim in whose name it was sent. */
function createTrace(world: World) {
  let refused = 0
  // While a request is made smaller, a form of it may be accepted.
  const accepted = new Set<string>()
  return async ({ userId, sound }: FuzzRequest, outcome: Outcome): Promise<string | null> => {
    if (userId === null || typeof outcome === 'string') return null
    if (outcome.status < 300) accepted.add(userId)
    if (!sound || ![400, 413].includes(outcome.status) || accepted.has(userId)) return null
    if (++refused % TRACED !== 0) return null
    const { status } = await world.fetch(`/api/event/user/${userId}`)
    return status === 404 ? null : `refused with ${outcome.status}, and yet the pilgrim is known (${status})`
  }
}

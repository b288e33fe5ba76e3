/** Reads request bodies, limited in size (independent of Content-Length) and in time. */
import { invalid, Refusal } from '#shared/runtime/refusal.ts'
import { rejectWith, within } from '#shared/runtime/deadline.ts'
import { createStringShortener } from './shorten-strings.ts'

const UTF8 = new TextDecoder('utf-8', { fatal: true })

const tooLarge = (max: number) =>
  new Refusal(413, 'too-large', `The body is larger than ${max} bytes: send less in one request.`)

/** Phones on bad networks are slow: a body may take long while it makes progress. */
const BYTES_A_SECOND = 256
const PACE_S = 10
/**
 * Shorter than the proxy's timeout (Caddyfile, read_body): Caddy answers an empty 200 for a request that it ends
 * itself.
 */
const LONGEST_S = 110
const PACE_BYTES = PACE_S * BYTES_A_SECOND
const SECOND_MS = 1_000

export const BODY_PACE = `at least ${BYTES_A_SECOND} bytes a second over any ${PACE_S} seconds, ${LONGEST_S} s in all`

const tooSlow = () =>
  new Refusal(408, 'too-slow', `The body arrives too slowly (${BODY_PACE}): please send it again.`, {
    Connection: 'close',
  })

const arriving = new WeakSet<Request>()

/** Whether the body of a request is still arriving, so that the client causes the delay. */
export const isBodyArriving = (request: Request): boolean => arriving.has(request)

interface BodyLimits {
  readonly bytes: number
  /** Size as sent: beyond `bytes` the body is JSON whose long strings are cut. */
  readonly sentBytes: number
}

export interface SentBody {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Bytes that were sent and cut. */
  readonly cutBytes: number
}

/** @throws Refusal 413 beyond the limits, 408 for a body that arrives too slowly */
export async function readBody(request: Request, limits: BodyLimits): Promise<SentBody> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  if (declared > limits.sentBytes) throw tooLarge(limits.sentBytes)
  // Accessing `request.body` creates a stream, which costs more than reading the body.
  if (declared === 0 && request.body === null) return { bytes: new Uint8Array(), cutBytes: 0 }
  arriving.add(request)
  try {
    if (declared === 0 || declared > PACE_BYTES) return await readStream(request.body!, limits)
    // A short body must be complete within one period, so its progress need not be measured.
    return { bytes: await within(request.bytes(), PACE_S * SECOND_MS, rejectWith(tooSlow)), cutBytes: 0 }
  } catch (error) {
    // The client has disconnected; this answer only counts in the metrics.
    if (error instanceof Error && error.name === 'AbortError') throw invalid('body: broke off')
    throw error
  } finally {
    arriving.delete(request)
  }
}

/** The parts of a body. Once they exceed the limit, the long strings of all parts are cut. */
function createParts({ bytes, sentBytes }: BodyLimits) {
  let parts: Uint8Array<ArrayBuffer>[] = []
  let sent = 0
  let kept = 0
  let shorten: ReturnType<typeof createStringShortener> | null = null
  const keep = (part: Uint8Array<ArrayBuffer>): void => {
    parts.push(part)
    kept += part.byteLength
  }
  return {
    sent: () => sent,
    /** @throws Refusal 413 */
    add(part: Uint8Array<ArrayBuffer>): void {
      sent += part.byteLength
      if (sent > sentBytes) throw tooLarge(sentBytes)
      if (shorten === null && sent > bytes) {
        shorten = createStringShortener()
        const whole = parts
        ;[parts, kept] = [[], 0]
        for (const piece of whole) keep(shorten(piece))
      }
      keep(shorten === null ? part : shorten(part).slice())
      if (kept > bytes) throw tooLarge(bytes)
    },
    whole: (): SentBody => ({ bytes: Buffer.concat(parts), cutBytes: sent - kept }),
  }
}

async function readStream(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  limits: BodyLimits,
): Promise<SentBody> {
  const reader = body.getReader()
  const parts = createParts(limits)
  const readAll = async (): Promise<SentBody> => {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return parts.whole()
      parts.add(value)
    }
  }
  const whole = readAll()
  /** Received bytes at each full second. */
  const sizes = [0]
  for (;;) {
    const read = await within(whole, SECOND_MS, () => null)
    if (read !== null) return read
    sizes.push(parts.sent())
    const before = sizes.at(-1 - PACE_S)
    const isSlow = before !== undefined && parts.sent() - before < PACE_BYTES
    if (!isSlow && sizes.length <= LONGEST_S) continue
    // The result of the cancelled read is not needed.
    void reader.cancel().catch(() => undefined)
    throw tooSlow()
  }
}

/** Beyond about 4,500 levels, validating a value overflows the stack. */
const MAX_DEPTH = 2_500
const OPENING = ['[', '{'].map((bracket) => bracket.charCodeAt(0))

/** Whether there are enough opening brackets for the depth. `indexOf` is faster than a loop over all bytes. */
function mayBeDeep(bytes: Uint8Array): boolean {
  let opening = 0
  for (const bracket of OPENING)
    for (let at = bytes.indexOf(bracket); at >= 0; at = bytes.indexOf(bracket, at + 1))
      if (++opening > MAX_DEPTH) return true
  return false
}

/** Whether too many brackets are open at the same time; brackets in strings are counted as well. */
function isTooDeep(bytes: Uint8Array): boolean {
  let depth = 0
  for (const byte of bytes) {
    // [ and {, ] and } differ by one bit.
    const bracket = byte | 0x20
    if (bracket === 0x7b) {
      if (++depth > MAX_DEPTH) return true
    } else if (bracket === 0x7d) depth--
  }
  return false
}

/** Whether JSON is nested deeper than a contract can validate. */
export const isNestedTooDeep = (bytes: Uint8Array): boolean =>
  bytes.length > MAX_DEPTH && mayBeDeep(bytes) && isTooDeep(bytes)

/** Fields of a body and of the objects directly in it. The largest body that clients send, a survey, has about 100. */
const MAX_FIELDS = 200

/** Each field may become a validation issue, which costs far more than counting. @throws Refusal 400 */
function expectFewFields(body: unknown): void {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return
  let fields = 0
  for (const [name, part] of [['body', body], ...Object.entries(body)] as const) {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) continue
    fields += Object.keys(part).length
    if (fields > MAX_FIELDS) throw invalid(`${name}: a body may have at most ${MAX_FIELDS} fields`)
  }
}

/**
 * Parses JSON of any Content-Type (page-hide beacons send text/plain).
 * @throws Refusal 400 for a body that is not JSON in UTF-8, is nested too deeply, or has too many fields
 */
export function parseJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) throw invalid('body is missing; send JSON')
  if (isNestedTooDeep(bytes)) throw invalid('body: is nested too deep')
  let body: unknown
  try {
    body = JSON.parse(UTF8.decode(bytes))
  } catch {
    throw invalid('body: is not valid JSON in UTF-8')
  }
  expectFewFields(body)
  return body
}

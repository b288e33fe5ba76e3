/** Reading a request's body: counted while it is read, whatever Content-Length says, and waited for while it comes. */
import { invalid, Refusal } from '#shared/http/errors.ts'
import { rejectWith, within } from '#shared/runtime/deadline.ts'

const UTF8 = new TextDecoder('utf-8', { fatal: true })

const tooLarge = (max: number) =>
  new Refusal(413, 'too-large', `The body is larger than ${max} bytes: send less in one request.`)

/** A phone on a bad network is slow. A body may take its time as long as it makes progress. */
const BYTES_A_SECOND = 256
/** Over any so many seconds. */
const PACE_S = 10
const LONGEST_S = 120
const PACE_BYTES = PACE_S * BYTES_A_SECOND
const SECOND_MS = 1_000

/** The bounds of a body on its way, in words. */
export const BODY_PACE = `at least ${BYTES_A_SECOND} bytes a second over any ${PACE_S} seconds, ${LONGEST_S} s in all`

const tooSlow = () =>
  new Refusal(408, 'too-slow', `The body does not arrive (${BODY_PACE}): please send it again.`, {
    Connection: 'close',
  })

const arriving = new WeakSet<Request>()

/** Whether the body of a request is still on its way: then it is the client who is slow. */
export const isArriving = (request: Request): boolean => arriving.has(request)

/** @throws Refusal 413 beyond `max` bytes, 408 for a body that does not arrive */
export async function readBytes(request: Request, max: number): Promise<Uint8Array<ArrayBuffer>> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  if (declared > max) throw tooLarge(max)
  // To look at the body makes a stream of it, which costs more than to read it.
  if (declared === 0 && request.body === null) return new Uint8Array()
  arriving.add(request)
  try {
    if (declared === 0 || declared > PACE_BYTES) return await readStream(request.body!, max)
    // To be in time a short body has to be here at once or soon, so nobody need see how it comes.
    return await within(request.bytes(), PACE_S * SECOND_MS, rejectWith(tooSlow))
  } catch (error) {
    // The client has left; the answer is for the books alone.
    if (error instanceof Error && error.name === 'AbortError') throw invalid('body: broke off')
    throw error
  } finally {
    arriving.delete(request)
  }
}

/** Reads a body and looks once a second how far it has come. */
async function readStream(body: ReadableStream<Uint8Array>, max: number): Promise<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  const readAll = async (): Promise<Uint8Array<ArrayBuffer>> => {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return Buffer.concat(chunks)
      size += value.byteLength
      if (size > max) throw tooLarge(max)
      chunks.push(value)
    }
  }
  const whole = readAll()
  /** Its size at each full second. */
  const sizes = [0]
  for (;;) {
    const read = await within(whole, SECOND_MS, () => null)
    if (read !== null) return read
    sizes.push(size)
    const before = sizes.at(-1 - PACE_S)
    const isSlow = before !== undefined && size - before < PACE_BYTES
    if (!isSlow && sizes.length <= LONGEST_S) continue
    // What comes of it is nobody's any more.
    void reader.cancel().catch(() => undefined)
    throw tooSlow()
  }
}

/** Beyond this depth, walking a value overflows the stack. */
const MAX_DEPTH = 5_000
const OPENING = ['[', '{'].map((bracket) => bracket.charCodeAt(0))

/** Whether enough brackets open for any depth at all: to find one is quicker than to look at every byte. */
function mayBeDeep(bytes: Uint8Array): boolean {
  let opening = 0
  for (const bracket of OPENING)
    for (let at = bytes.indexOf(bracket); at >= 0; at = bytes.indexOf(bracket, at + 1))
      if (++opening > MAX_DEPTH) return true
  return false
}

/** Whether so many brackets are open at once, those in strings included. */
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

/**
 * Reads JSON, whatever the Content-Type says (page-hide beacons send text/plain).
 * @throws Refusal 400 for what is not JSON in UTF-8, or nested deeper than anything can be walked through
 */
export function parseJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) throw invalid('body is missing; send JSON')
  const isLong = bytes.length > MAX_DEPTH
  if (isLong && mayBeDeep(bytes) && isTooDeep(bytes)) throw invalid('body: is nested too deep')
  try {
    return JSON.parse(UTF8.decode(bytes))
  } catch {
    throw invalid('body: is not valid JSON in UTF-8')
  }
}

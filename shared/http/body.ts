/** Reading a request's body: counted while it is read, whatever Content-Length says. */
import { invalid, Refusal } from '#shared/errors.ts'

const UTF8 = new TextDecoder('utf-8', { fatal: true })

const tooLarge = (max: number) =>
  new Refusal(413, 'too-large', `The body is larger than ${max} bytes: send less in one request.`)

/** @throws Refusal 413 beyond `max` bytes */
export async function readBytes(request: Request, max: number): Promise<Uint8Array<ArrayBuffer>> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  if (declared > max) throw tooLarge(max)
  if (request.body === null) return new Uint8Array()
  if (declared > 0) return new Uint8Array(await request.arrayBuffer())
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body) {
    size += chunk.byteLength
    if (size > max) throw tooLarge(max)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/**
 * Reads JSON, whatever the Content-Type says (page-hide beacons send text/plain).
 * @throws Refusal 400 for what is not JSON in UTF-8, 413 beyond `max` bytes
 */
export async function readJson(request: Request, max: number): Promise<unknown> {
  const bytes = await readBytes(request, max)
  try {
    return JSON.parse(UTF8.decode(bytes))
  } catch {
    throw invalid('body: is not valid JSON in UTF-8')
  }
}

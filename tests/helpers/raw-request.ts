/** A request as raw bytes, for paths, hosts and lengths that no HTTP client sends. */
import { connect } from 'node:tls'

export interface RawAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** Timeout of the whole exchange. */
const TIMEOUT_MS = 15_000

/**
 * Sends `head` (request line and header lines, without the blank line) and a body, and reads the answer.
 * @throws Error when the server closes the connection without an answer, or sends nothing for 15 s
 */
export async function rawRequest(
  { port, ca, servername = 'localhost' }: { port: number; ca: string; servername?: string },
  head: readonly string[],
  body = '',
): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let received = ''
  const socket = connect({ host: '127.0.0.1', port, servername, ca }, () => {
    socket.write(`${[...head, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`)
  })
  socket.setEncoding('latin1')
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error(`no answer to ${head[0]}`)))
  socket.on('data', (chunk: string) => (received += chunk))
  socket.once('close', () => resolve(received))
  socket.once('error', reject)
  return parse(await promise)
}

function parse(received: string): RawAnswer {
  const end = received.indexOf('\r\n\r\n')
  const [statusLine = '', ...lines] = received.slice(0, end).split('\r\n')
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1])
  if (end < 0 || Number.isNaN(status)) throw new Error(`not an HTTP answer: ${JSON.stringify(received)}`)
  const headers = new Headers()
  for (const line of lines) {
    const colon = line.indexOf(':')
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  const rest = received.slice(end + 4)
  const plain = headers.get('transfer-encoding') === 'chunked' ? dechunked(rest) : rest
  return { status, headers, body: Buffer.from(plain, 'latin1').toString() }
}

function dechunked(text: string): string {
  const line = text.indexOf('\r\n')
  const size = Number.parseInt(text.slice(0, line), 16)
  if (!(size > 0)) return ''
  const from = line + 2
  return text.slice(from, from + size) + dechunked(text.slice(from + size + 2))
}

/** A minimal HTTP/1.1 client over TLS: sends arbitrary bytes, and reads one answer within a timeout. */
import { connect, type TLSSocket } from 'node:tls'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Buffer
}

/**
 * `closed`: the server closed the connection without an answer; `silent`: no reaction within the timeout;
 * `garbled`: the answer is not valid HTTP, for example because the server found the request invalid while it was
 * answering.
 */
export type Outcome = Answer | 'closed' | 'silent' | 'garbled'

export interface Wire {
  /**
   * Sends these bytes and reads the answer.
   * @param options.last whether it is the last request on this connection
   * @param options.bodyless whether the answer has no body, whatever its headers declare (HEAD)
   */
  send(bytes: Buffer, options: { last: boolean; bodyless: boolean; withinMs: number }): Promise<Outcome>
  close(): void
}

interface Head {
  readonly status: number
  readonly headers: Headers
  readonly bodyAt: number
}

const LINE_END = '\r\n'

function readHead(received: Buffer): Head | null {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return null
  const [statusLine = '', ...lines] = received.subarray(0, end).toString('latin1').split(LINE_END)
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1])
  if (Number.isNaN(status) || lines.some((line) => !/^[\w-]+:/.test(line)))
    throw new Error('not an HTTP answer')
  const headers = new Headers()
  for (const line of lines) {
    const colon = line.indexOf(':')
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  return { status, headers, bodyAt: end + 4 }
}

/** @returns the body of a chunked answer; null while it is incomplete */
function readChunks(bytes: Buffer): Buffer | null {
  const chunks: Buffer[] = []
  for (let at = 0; ;) {
    const line = bytes.indexOf(LINE_END, at)
    if (line < 0) return null
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
    if (size === 0) return bytes.indexOf('\r\n\r\n', line) < 0 ? null : Buffer.concat(chunks)
    const from = line + 2
    if (bytes.length < from + size + 2) return null
    chunks.push(bytes.subarray(from, from + size))
    at = from + size + 2
  }
}

/** @returns the first final answer in the received bytes; null while it is incomplete */
function readAnswer(received: Buffer, bodyless: boolean, ended: boolean): Answer | null {
  const head = readHead(received)
  if (head === null) return null
  const rest = received.subarray(head.bodyAt)
  if (head.status >= 100 && head.status < 200) return readAnswer(rest, bodyless, ended)
  const whole = (body: Buffer): Answer => ({ status: head.status, headers: head.headers, body })
  if (bodyless || head.status === 204 || head.status === 304) return whole(Buffer.alloc(0))
  // A stream of events has no end.
  if (head.headers.get('content-type')?.startsWith('text/event-stream')) {
    head.headers.set('connection', 'close')
    return whole(Buffer.alloc(0))
  }
  if (head.headers.get('transfer-encoding')?.includes('chunked')) {
    const body = readChunks(rest)
    return body === null ? null : whole(body)
  }
  const length = head.headers.get('content-length')
  if (length === null) return ended ? whole(rest) : null
  return rest.length < Number(length) ? null : whole(rest.subarray(0, Number(length)))
}

/** A sender with one connection, which is reused while the server keeps it open. */
export function openWire({ port, ca }: { readonly port: number; readonly ca: string }): Wire {
  let reusable: TLSSocket | null = null

  const exchange = (socket: TLSSocket, bytes: Buffer, last: boolean, bodyless: boolean, withinMs: number) =>
    new Promise<Outcome>((resolve) => {
      const chunks: Buffer[] = []
      const finish = (outcome: Outcome) => {
        clearTimeout(timer)
        socket.removeAllListeners('data').removeAllListeners('end').removeAllListeners('close')
        const stays =
          !last && typeof outcome === 'object' && outcome.headers.get('connection')?.toLowerCase() !== 'close'
        if (stays) reusable = socket
        else socket.destroy()
        resolve(outcome)
      }
      const look = (ended: boolean) => {
        try {
          const answer = readAnswer(Buffer.concat(chunks), bodyless, ended)
          if (answer !== null) finish(answer)
          else if (ended) finish('closed')
        } catch {
          finish('garbled')
        }
      }
      const timer = setTimeout(() => finish('silent'), withinMs)
      socket.on('data', (chunk: Buffer) => (chunks.push(chunk), look(false)))
      socket.on('end', () => look(true))
      socket.on('close', () => look(true))
      socket.write(bytes)
    })

  const open = () =>
    new Promise<TLSSocket>((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, servername: 'localhost', ca }, () => {
        socket.removeListener('error', reject)
        // The server may close the connection during the request; the outcome reports it.
        socket.on('error', () => undefined)
        resolve(socket)
      })
      socket.once('error', reject)
    })

  return {
    async send(bytes, { last, bodyless, withinMs }) {
      const used = reusable
      reusable = null
      if (used !== null && !used.destroyed && !last) {
        const outcome = await exchange(used, bytes, last, bodyless, withinMs)
        // The reused connection may just have been closed; a new one decides.
        if (outcome !== 'closed') return outcome
      } else used?.destroy()
      return exchange(await open(), bytes, last, bodyless, withinMs)
    },
    close: () => reusable?.destroy(),
  }
}

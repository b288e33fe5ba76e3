/** Viewers of the map who speak HTTP/2, as browsers do: what one receives on the wire, TLS included. */
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2'
import { type AddressInfo, connect, createServer } from 'node:net'
import { brotliDecompressSync } from 'node:zlib'

/** Sent by Chromium; HTTP/2 sends what repeats only once. */
const HEADERS = {
  accept: '*/*',
  'accept-encoding': 'gzip, deflate, br, zstd',
  'accept-language': 'zh-TW,zh;q=0.9,en;q=0.8',
  'user-agent':
    'Mozilla/5.0 (Linux; Android 14; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36',
}

interface Answer {
  readonly status: number
  readonly encoding: string
  readonly body: Buffer
}

export interface WireBytes {
  /** Bytes of an answer, and of a request. */
  readonly received: number
  readonly sent: number
}

/** Forwards connections to a server of this machine, and counts their bytes. */
async function startCounter(port: number) {
  const counted = { received: 0, sent: 0 }
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    client.on('data', (bytes: Buffer) => void (counted.sent += bytes.length))
    upstream.on('data', (bytes: Buffer) => void (counted.received += bytes.length))
    client.pipe(upstream).pipe(client)
    // Both sides end with the measurement.
    for (const socket of [client, upstream]) socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { counted, port: (server.address() as AddressInfo).port, server }
}

function get(session: ClientHttp2Session, path: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = session.request({ ':path': path, ...HEADERS })
    const parts: Buffer[] = []
    let status = 0
    let encoding = ''
    request.on('response', (headers) => {
      status = headers[':status'] ?? 0
      encoding = headers['content-encoding'] ?? ''
    })
    request.on('data', (bytes: Buffer) => parts.push(bytes))
    request.on('end', () => resolve({ status, encoding, body: Buffer.concat(parts) }))
    request.on('error', reject)
    request.end()
  })
}

function versionOf({ status, encoding, body }: Answer): number {
  if (status !== 200) throw new Error(`the map was answered ${status}`)
  const text = encoding === 'br' ? brotliDecompressSync(body) : body
  return (JSON.parse(text.toString()) as { data: { version: number } }).data.version
}

/**
 * Lets one viewer look at the map.
 * @param url of Caddy
 * @param pauses between two answers, milliseconds
 */
export async function wireBytes(
  { url, path }: { readonly url: string; readonly path: string },
  pauses: readonly number[],
): Promise<WireBytes> {
  const counter = await startCounter(Number(new URL(url).port))
  const session = connectHttp2(`https://localhost:${counter.port}`, { rejectUnauthorized: false })
  // The first answer is the whole map, and comes after the handshake.
  let answer = await get(session, path)
  const { counted } = counter
  const before = { ...counted }
  for (const pause of pauses) {
    await Bun.sleep(pause)
    answer = await get(session, `${path}?since=${versionOf(answer)}`)
  }
  session.destroy()
  counter.server.close()
  return {
    received: (counted.received - before.received) / pauses.length,
    sent: (counted.sent - before.sent) / pauses.length,
  }
}

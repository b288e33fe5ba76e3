/**
 * `bun viewers.ts <https://localhost:port> <path> <viewers> <seconds> <pace>`: viewers of the map, each on
 * its own persistent TLS connection, polling like proxy/pages/map/follow.ts: every 10 to 15 s for the changes
 * since the last response. Seconds and pauses are divided by the pace. It prints `ready` once each viewer has
 * had a first response, starts counting at a line on its input, and prints one line of JSON.
 */
import { brotliDecompressSync } from 'node:zlib'
import type { Socket } from 'bun'

const EVERY_MS = 10_000
const SPREAD_MS = 5_000
/** Handshakes at the same time. */
const AT_ONCE = 64
const HEAD_END = Buffer.from('\r\n\r\n')

const [address, path, viewers, seconds, pace] = process.argv.slice(2) as [string, string, ...string[]]
const { hostname, port, host } = new URL(address)
const PACE = Number(pace)

/** Headers of Chromium, so that requests are as large as a phone's. */
const COMMON = [
  `Host: ${host}`,
  'Accept: */*',
  'Accept-Encoding: gzip, deflate, br, zstd',
  'Accept-Language: zh-TW,zh;q=0.9,en;q=0.8',
  'Sec-Fetch-Dest: empty',
  'Sec-Fetch-Mode: cors',
  'Sec-Fetch-Site: same-origin',
  `Referer: https://${host}/`,
  'User-Agent: Mozilla/5.0 (Linux; Android 14; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36',
].join('\r\n')

let requests = 0
let counting = false
let failed = 0
let answered = 0

/** The version of a body, decompressed once for all viewers. */
const versions = new Map<string, number>()
function versionOf(tag: string, body: Buffer, encoding: string): number {
  return versions.getOrInsertComputed(`${tag} ${body.length}`, () => {
    const text = encoding === 'br' ? brotliDecompressSync(body) : body
    const { data } = JSON.parse(text.toString()) as { data: { version: number } }
    return data.version
  })
}

class Viewer {
  #socket: Socket | null = null
  #parts: Buffer[] = []
  #version: number | null = null
  #etag = ''
  #asked = ''
  #isFirst = true

  async connect(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#socket = await Bun.connect({
      hostname,
      port: Number(port),
      tls: { rejectUnauthorized: false, serverName: 'localhost' },
      socket: {
        handshake: () => resolve(),
        data: (_, bytes) => this.#take(bytes),
        close: () => process.exit(1),
        error: (_, error) => reject(error),
      },
    })
    await promise
    this.#ask()
  }

  #ask(): void {
    const target = this.#version === null ? path : `${path}?since=${this.#version}`
    // The page drops the ETag when its request changes.
    const tag = target === this.#asked ? this.#etag : ''
    this.#asked = target
    const condition = tag === '' ? '' : `\r\nIf-None-Match: ${tag}`
    const request = `GET ${target} HTTP/1.1\r\n${COMMON}${condition}\r\n\r\n`
    this.#socket!.write(request)
  }

  #take(bytes: Buffer): void {
    this.#parts.push(Buffer.from(bytes))
    const all = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts)
    const end = all.indexOf(HEAD_END)
    if (end === -1) return
    const head = all.toString('latin1', 0, end)
    const body = bodyOf(head, all.subarray(end + HEAD_END.length))
    if (body === null) {
      this.#parts = [all]
      return
    }
    this.#parts = []
    this.#answer(head, body)
  }

  #answer(head: string, body: Buffer): void {
    const status = Number(head.slice(9, 12))
    if (status === 200) {
      this.#etag = header(head, 'etag') ?? ''
      this.#version = versionOf(this.#etag, body, header(head, 'content-encoding') ?? '')
    } else if (status !== 304) fail(head)
    if (counting) requests++
    if (this.#isFirst) {
      this.#isFirst = false
      answered++
    }
    // The first pause spreads out viewers who arrived together.
    setTimeout(() => this.#ask(), (EVERY_MS + Math.random() * SPREAD_MS) / PACE)
  }
}

const header = (head: string, name: string): string | undefined =>
  new RegExp(`^${name}: *(.*?)\r?$`, 'im').exec(head)?.[1]

/** The complete body; null while it is incomplete. For a large compressed file Caddy sends no length. */
function bodyOf(head: string, received: Buffer): Buffer | null {
  if (header(head, 'transfer-encoding') !== 'chunked') {
    const length = Number(header(head, 'content-length') ?? 0)
    return received.length < length ? null : received
  }
  const parts: Buffer[] = []
  for (let at = 0; ;) {
    const line = received.indexOf('\r\n', at)
    const size = line === -1 ? NaN : Number.parseInt(received.toString('latin1', at, line), 16)
    const from = line + 2
    if (Number.isNaN(size) || received.length < from + size + 2) return null
    if (size === 0) return Buffer.concat(parts)
    parts.push(received.subarray(from, from + size))
    at = from + size + 2
  }
}

function fail(why: string): void {
  if (failed++ === 0) console.error(why)
}

async function main(): Promise<void> {
  const waiting = Array.from({ length: Number(viewers) }, () => new Viewer())
  const total = waiting.length
  const connectSome = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await next.connect()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, connectSome))
  while (answered < total) await Bun.sleep(20)
  console.log('ready')
  for await (const _ of console) break
  counting = true
  const startedMs = performance.now()
  await Bun.sleep((Number(seconds) * 1_000) / PACE)
  const took = (performance.now() - startedMs) / 1_000
  console.log(JSON.stringify({ requests, failed, seconds: took }))
  process.exit(0)
}

await main()

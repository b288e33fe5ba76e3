/** Encodes a request as bytes: whole, chunked, or with a wrong length. */
import { type Framing, SOUND } from './framing.ts'

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
export function bytesOf(request: {
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

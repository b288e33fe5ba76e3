/** Variations of a request on the wire: tokens, unusual headers, altered paths and methods, and wrong lengths. */
import fc from 'fast-check'
import { KEYS, TIMES } from './edges.ts'
import { hostileText } from './json.ts'
import { userId } from './schema.ts'

/** `length` and `chunked` are valid HTTP; each of the others violates it. */
export const SOUND = ['length', 'chunked'] as const
const BROKEN = [
  'declares-more',
  'declares-less',
  'bad-length',
  'two-lengths',
  'length-and-chunked',
  'bad-chunk',
  'cut-chunk',
  'huge-chunk',
  'odd-coding',
  'bare-line-feeds',
  'bad-header',
  'no-host',
  'two-hosts',
  'bad-version',
] as const
/** Framings that leave the server waiting for more bytes, until the client closes the connection. */
export const UNFINISHED: readonly string[] = ['declares-more', 'cut-chunk', 'huge-chunk']
export type Framing = (typeof SOUND)[number] | (typeof BROKEN)[number]

export interface How {
  readonly kind: Framing
  readonly token: string | null
  readonly headers: readonly (readonly [string, string])[]
  readonly bend: ((method: string, target: string) => readonly [string, string]) | null
}

/** Bytes that are invalid in a header are covered by `bad-header`. */
const headerText = hostileText.map((text) =>
  Buffer.from(
    text
      .toWellFormed()
      .replaceAll(/\p{Cc}/gu, ' ')
      .slice(0, 2_000)
      .trim(),
  ).toString('latin1'),
)

const ODD: fc.Arbitrary<readonly (readonly [string, string])[]> = fc.oneof(
  fc.constantFrom('GET', 'DELETE', 'PUT', 'x').map(
    (method) =>
      [
        ['X-HTTP-Method-Override', method],
        ['X-HTTP-Method', method],
        ['X-Method-Override', method],
      ] as const,
  ),
  headerText.map((text) => [['X-Request-Id', text]] as const),
  headerText.map(
    (text) =>
      [
        ['X-Line-User-Id', text],
        ['X-User-Id', text],
      ] as const,
  ),
  headerText.map(
    (text) =>
      [
        ['X-Forwarded-For', text],
        ['X-Forwarded-Host', text],
        ['X-Forwarded-Proto', text],
        ['Forwarded', text],
        ['X-Real-IP', text],
      ] as const,
  ),
  headerText.map(
    (text) =>
      [
        ['Origin', text],
        ['Referer', text],
      ] as const,
  ),
  headerText.map(
    (text) =>
      [
        ['Authorization', `Bearer ${text}`],
        ['Cookie', text],
      ] as const,
  ),
  headerText.map(
    (text) =>
      [
        ['If-None-Match', text],
        ['If-Match', text],
        ['If-Modified-Since', text],
      ] as const,
  ),
  headerText.map(
    (text) =>
      [
        ['Accept', text],
        ['Accept-Encoding', text],
        ['Accept-Language', text],
      ] as const,
  ),
  headerText.map((text) => [['X-Line-Signature', text]] as const),
  headerText.map((text) => [['Last-Event-ID', text]] as const),
  fc.constantFrom(...KEYS).map((name) => [[name, name]] as const),
  userId.map((id) => [['X-Line-User-Id', id]] as const),
  fc.constantFrom(...TIMES).map(
    (at) =>
      [
        ['If-Modified-Since', at],
        ['If-Unmodified-Since', at],
        ['Date', at],
      ] as const,
  ),
  headerText.map((text) => [['X-Admin-Token', text]] as const),
  fc
    .constantFrom('gzip', 'br', 'deflate', 'identity', 'x')
    .map((coding) => [['Content-Encoding', coding]] as const),
  fc.constantFrom('bytes=0-1', 'bytes=-1', 'bytes=9-1', 'x').map((range) => [['Range', range]] as const),
  fc.constant([['Accept', 'text/csv']] as const),
  fc.constant([['Expect', '100-continue']] as const),
  fc.constantFrom('websocket', 'h2c', 'TLS/1.0').map(
    (to) =>
      [
        ['Upgrade', to],
        ['Connection', 'Upgrade'],
        ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
        ['Sec-WebSocket-Version', '13'],
        ['HTTP2-Settings', 'AAMAAABkAAQAAP__'],
      ] as const,
  ),
  fc
    .integer({ min: 2, max: 60 })
    .map((n) => Array.from({ length: n }, (_, i) => [`X-Many-${i}`, 'v'.repeat(40)] as const)),
  fc.integer({ min: 100, max: 7_000 }).map((n) => [['X-Long', 'v'.repeat(n)]] as const),
)

const TRICKS: readonly ((target: string) => string)[] = [
  (target) => `/${target}`,
  (target) => target.replaceAll('/', '//'),
  (target) => target.replace(/\?|$/, (at) => `/${at}`),
  (target) => target.replace(/\?|$/, (at) => `%00${at}`),
  (target) => target.replace(/\?|$/, (at) => `;a=b${at}`),
  (target) => target.replace('/api/', '/%61pi/'),
  (target) => target.replace('/event/', '/EVENT/'),
  (target) => target.replace('/event/', '%2fevent%2f'),
  (target) => target.replace('/event/', '/x/../event/'),
  (target) => target.replace('/event/', '/x/%2e%2e/event/'),
  (target) => target.replace('/event/', '/x/..;/event/'),
  (target) => target.replace('/event/', '/./event/'),
  (target) => target.replaceAll('/', '\\'),
  (target) => `/metrics/..${target}`,
  (target) => `${target}/../../../metrics`,
  (target) => `https://localhost${target}`,
  (target) => `http://127.0.0.1:1${target}`,
  (target) => `${target}${target.includes('?') ? '&' : '?'}${'a=b&'.repeat(500)}`,
  (target) => `${target}#x`,
  (target) => `${target}${'/a'.repeat(1_500)}`,
  () => '*',
]
const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'BREW',
  'get',
  'X-Y',
  'PURGE',
]

const bend = fc.oneof(
  fc
    .constantFrom(...TRICKS)
    .map((trick) => (method: string, target: string) => [method, trick(target)] as const),
  fc.constantFrom(...METHODS).map((other) => (_method: string, target: string) => [other, target] as const),
)

const kindOf = (withBody: boolean) =>
  fc.oneof(
    { weight: 60, arbitrary: fc.constant<Framing>('length') },
    { weight: withBody ? 6 : 1, arbitrary: fc.constant<Framing>('chunked') },
    { weight: 2, arbitrary: fc.constantFrom<Framing>(...BROKEN) },
  )

/** Ways to send a request. @param tokens valid ones. A wrong token is rare, because its answer is delayed */
export const framing = (tokens: readonly string[], withBody: boolean): fc.Arbitrary<How> =>
  fc.record({
    kind: kindOf(withBody),
    token: fc.oneof(
      { weight: 400, arbitrary: fc.constantFrom<string | null>(...tokens) },
      { weight: 120, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: headerText },
    ),
    headers: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: ODD }),
    bend: fc.oneof({ weight: 7, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: bend }),
  })

/** Method, target and headers of the request on the wire. */
export function framed(method: string, target: string, type: string, { kind, token, headers, bend }: How) {
  const [sent, where] = bend?.(method, target) ?? [method, target]
  const all: (readonly [string, string])[] = [...headers]
  if (kind !== 'no-host') all.unshift(['Host', 'localhost'])
  if (kind === 'two-hosts') all.push(['Host', 'other.example'])
  if (type !== '') all.push(['Content-Type', type])
  if (token !== null) all.push(['X-Admin-Token', token])
  return { method: sent, target: where, headers: all }
}

/** Whether it is valid HTTP, which must get an answer. */
export const isSound = ({ kind }: How): boolean => (SOUND as readonly string[]).includes(kind)

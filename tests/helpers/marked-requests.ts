/** A request of every endpoint, with a marker in every field that holds something of a person. */
import { deflateSync } from 'node:zlib'
import type { Description, Operation } from '#tests/fuzz/requests.ts'
import type { Schema } from '#tests/fuzz/schema.ts'
import { lineEvent, signatureOf, textEvent } from './line-webhook.ts'

/** Values in place of personal data; a search finds each of them in any text. */
export interface Markers {
  /** 32 hexadecimal digits: with a U before it the id of a person of LINE. */
  readonly text: string
  /** Digits. */
  readonly phone: string
  readonly lat: number
  readonly lng: number
}

export interface MarkedRequest {
  /** `POST /api/event/checkin`. */
  readonly operation: string
  readonly path: string
  readonly init: RequestInit
}

/** Markers that no other test uses. */
export function newMarkers(): Markers {
  const digits = (count: number) => String(Math.random()).slice(2, 2 + count)
  return {
    text: crypto.randomUUID().replaceAll('-', ''),
    phone: `09${digits(10)}`,
    lat: Number(`24.1${digits(9)}7`),
    lng: Number(`120.6${digits(9)}7`),
  }
}

/** The texts to search for. */
export const traces = ({ text, phone, lat, lng }: Markers): string[] => [text, phone, `${lat}`, `${lng}`]

const userIdOf = ({ text }: Markers): string => `U${text}`

/** Values of fields whose schema alone does not determine a valid one. */
function named(name: string, markers: Markers): unknown {
  const { text, phone, lat, lng } = markers
  const point = { lat, lng, timestamp: Date.now() - 60_000, source: text }
  const values: Record<string, unknown> = {
    user_id: userIdOf(markers),
    userId: userIdOf(markers),
    user_ids: [userIdOf(markers)],
    file: `${userIdOf(markers)}.png`,
    phone,
    lat,
    lng,
    timestamp: new Date().toISOString(),
    points: [point],
    track_points: [point],
    gps_points: [point],
    survey: { q1: text, [`q2_${text.slice(0, 20)}`]: [text] },
    bbox: `${lng},${lat},${lng},${lat}`,
    limit: '5',
    status: 'active',
  }
  return values[name]
}

/** A value that the schema allows, with the marker wherever it fits. */
function valueOf(name: string, schema: Schema, markers: Markers): unknown {
  const known = named(name, markers)
  if (known !== undefined) return known
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  const alternatives = schema.anyOf?.filter(({ type }) => type !== 'null')
  if (alternatives !== undefined) return valueOf('', alternatives[0] ?? {}, markers)
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.[0]
  if (type === 'boolean') return true
  if (type === 'number' || type === 'integer') return Math.max(schema.minimum ?? 1, 1)
  if (type === 'array') return [valueOf('', schema.items ?? {}, markers)]
  if (type === 'object' || schema.properties !== undefined) return objectOf(schema, markers)
  if (schema.format === 'date-time') return new Date().toISOString()
  if (schema.format === 'uri') return `https://example.org/${markers.text}`
  const { pattern, maxLength = 100 } = schema
  const candidates = [markers.text, '1', '12', `https://example.org/${markers.text}`]
  const fitting = candidates.find((one) => pattern === undefined || new RegExp(pattern).test(one))
  return (fitting ?? markers.text).slice(0, maxLength)
}

const objectOf = ({ properties = {} }: Schema, markers: Markers): Record<string, unknown> => ({
  ...Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, valueOf(name, schema, markers)]),
  ),
  // An unknown field: its name and its value.
  [`x-${markers.text}`]: markers.text,
})

/** Headers that clients send on their own. */
const headersOf = ({ text, phone }: Markers): Record<string, string> => ({
  'Content-Type': 'application/json',
  'X-Line-User-Id': `U${text}`,
  'X-User-Id': `U${text}`,
  'User-Agent': `Phone of ${text}`,
  Authorization: `Bearer ${text}`,
  Cookie: `phone=${phone}; name=${text}`,
  Referer: `https://example.org/${text}?phone=${phone}`,
  'X-Forwarded-For': text,
  'X-Request-Id': `"${text}"`,
})

/** A picture whose metadata names its author. */
function picture({ text }: Markers): Buffer<ArrayBuffer> {
  const chunk = (type: string, data: Buffer) => {
    const named = Buffer.concat([Buffer.from(type), data])
    const frame = Buffer.alloc(8)
    frame.writeUInt32BE(data.length)
    frame.writeUInt32BE(Bun.hash.crc32(named), 4)
    return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)])
  }
  const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0])
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('tEXt', Buffer.from(`Author\0${text}`)),
    chunk('IDAT', deflateSync(Buffer.alloc(4))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

type Parts = Pick<RequestInit, 'body' | 'headers'>

function webhooks(markers: Markers): Parts[] {
  const userId = userIdOf(markers)
  const events = [
    textEvent(userId, `level ${markers.text}`, { replyToken: markers.text }),
    lineEvent(userId, { type: 'follow' }),
    lineEvent(userId, { type: 'message', message: { type: 'image', id: markers.text } }),
    lineEvent(userId, { type: 'postback', postback: { data: `action=level&x=${markers.text}` } }),
    { type: { [markers.text]: markers.text }, webhookEventId: [markers.text] },
  ]
  const body = JSON.stringify({ destination: markers.text, events })
  return [signatureOf(body), markers.text].map((signature) => ({
    body,
    headers: { 'X-Line-Signature': signature },
  }))
}

function uploads(markers: Markers): Parts[] {
  const bytes = picture(markers)
  const form = new FormData()
  form.set(markers.text, new File([bytes], `${markers.text}.png`))
  return [
    { body: bytes, headers: { 'Content-Type': 'image/png' } },
    { body: form, headers: {} },
    { body: JSON.stringify({ image: bytes.toString('base64') }) },
    { body: JSON.stringify({ image: markers.text }) },
    { body: Buffer.concat([bytes.subarray(0, 40), Buffer.from(markers.text)]), headers: {} },
  ]
}

/** Bodies of an operation: a valid one, and for each field one in which that field has a wrong type. */
function bodiesOf(path: string, { requestBody }: Operation, markers: Markers): Parts[] {
  if (path.endsWith('/webhook')) return webhooks(markers)
  const schema = requestBody?.content['application/json']?.schema
  if (requestBody !== undefined && (schema === undefined || path.endsWith('/feedback-upload')))
    return uploads(markers)
  if (schema === undefined) return [{}]
  const right = valueOf('', schema, markers) as Record<string, unknown>
  const wrong = Object.keys(right).map((name) => ({ ...right, [name]: { [markers.text]: [markers.text] } }))
  const bodies = [right, ...wrong].map((body) => ({ body: JSON.stringify(body) }))
  return [...bodies, { body: `{"user_id": ${markers.text}` }]
}

function targetsOf(path: string, { parameters }: Operation, markers: Markers): string[] {
  const filled = (value: (name: string, schema: Schema) => unknown) => {
    const query = new URLSearchParams()
    let target = path
    for (const { name, in: place, schema } of parameters)
      if (place === 'header') continue
      else if (place === 'path')
        target = target.replace(`{${name}}`, encodeURIComponent(String(value(name, schema))))
      else query.set(name, String(value(name, schema)))
    return query.size === 0 ? target : `${target}?${query}`
  }
  const right = filled((name, schema) => valueOf(name, schema, markers))
  return [...new Set([right, filled(() => markers.text), `${right}#${markers.text}`.replace('#', '?x=')])]
}

/**
 * Requests of every operation of the document, erasures last.
 * @param token an operator's token; requests with a wrong token are made too
 */
export function markedRequests(
  document: Description,
  markers: Markers,
  token: () => string,
): MarkedRequest[] {
  const all = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      operation,
    })),
  )
  const requests = all.flatMap(({ path, method, operation }) => {
    const bodies = bodiesOf(path, operation, markers)
    const targets = targetsOf(path, operation, markers)
    const pairs = [
      ...bodies.map((body) => ({ body, target: targets[0]! })),
      ...targets.map((target) => ({ body: bodies[0]!, target })),
    ]
    return pairs.map(({ body, target }, i): MarkedRequest => {
      const last = i === pairs.length - 1 && pairs.length > 2
      const headers = new Headers({ ...headersOf(markers), 'X-Admin-Token': last ? markers.text : token() })
      // A form sets its own content type, with its boundary.
      if (body.body instanceof FormData) headers.delete('Content-Type')
      for (const [name, value] of new Headers(body.headers)) headers.set(name, value)
      return {
        operation: `${method} ${path}`,
        path: target,
        init: { ...body, method, headers },
      }
    })
  })
  return requests.sort((a, b) => Number(a.init.method === 'DELETE') - Number(b.init.method === 'DELETE'))
}

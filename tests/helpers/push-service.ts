/**
 * A push service of a browser on loopback: it rejects what a real one rejects, and decrypts messages with the device's
 * keys, as the browser does. Written from RFC 8030, 8188, 8291 and 8292, with WebCrypto and jose.
 */
import { createECDH, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { importJWK, jwtVerify } from 'jose'
import { openCertificate } from '#proxy/local/listen.ts'
import type { Environment } from '#shared/runtime/config/config.ts'
import webPush from 'web-push'

/** A browser's subscription, and its private keys. */
export interface PushTestDevice {
  readonly subscription: {
    readonly endpoint: string
    readonly keys: { readonly p256dh: string; readonly auth: string }
  }
  readonly privateKey: Buffer
}

/** A message shown on a device. */
export interface Shown {
  readonly title: string
  readonly body: string
  readonly tag: string
}

export interface Received {
  readonly endpoint: string
  readonly shown: Shown
  readonly headers: Headers
}

const MAX_BYTES = 4_096
const DAY_S = 86_400

/** A subscription at this push service. @param base ends in a slash */
export function newDevice(base: string): PushTestDevice {
  const pair = createECDH('prime256v1')
  pair.generateKeys()
  return {
    subscription: {
      endpoint: `${base}${crypto.randomUUID()}`,
      keys: {
        p256dh: pair.getPublicKey('base64url'),
        auth: randomBytes(16).toString('base64url'),
      },
    },
    privateKey: pair.getPrivateKey(),
  }
}

/** A new pair of VAPID keys, as settings. */
export function newPushKeys() {
  const { publicKey, privateKey } = webPush.generateVAPIDKeys()
  return {
    EVENT_PUSH_PUBLIC_KEY: publicKey,
    EVENT_PUSH_PRIVATE_KEY: privateKey,
    EVENT_PUSH_SUBJECT: 'mailto:event@example.com',
  }
}

export interface PushService {
  /** Every call, refused ones included, as `status endpoint`. */
  readonly calls: string[]
  readonly received: Received[]
  /** The browser subscribes. */
  subscribe(): PushTestDevice
  /** The browser's user revokes the permission. */
  unsubscribe(device: PushTestDevice): void
  /** Overrides the next answers to a device. */
  mishaps: Map<string, () => Response | null>
  /** Settings of a test stack that sends to this service. */
  readonly settings: Environment
  stop(): Promise<void>
}

/** Starts the service. It accepts messages of one application server, whose keys are in `settings`. */
export async function startPushService(): Promise<PushService> {
  const directory = mkdtempSync(join(tmpdir(), 'push-service-'))
  const certificate = await openCertificate(directory)
  const keys = newPushKeys()
  const devices = new Map<string, PushTestDevice>()
  const gone = new Set<string>()
  const calls: string[] = []
  const received: Received[] = []
  const mishaps: PushService['mishaps'] = new Map()

  const answer = async (request: Request): Promise<Response> => {
    const endpoint = request.url
    const mishap = mishaps.get(endpoint)?.()
    if (mishap) return mishap
    if (request.method !== 'POST') return new Response('method', { status: 405 })
    const refusal = await refusalOf(request.headers, origin, keys.EVENT_PUSH_PUBLIC_KEY)
    if (refusal !== null) return new Response(null, { status: refusal })
    if (gone.has(endpoint)) return new Response(null, { status: 410 })
    const device = devices.get(endpoint)
    if (device === undefined) return new Response(null, { status: 404 })
    const body = Buffer.from(await request.arrayBuffer())
    if (body.length > MAX_BYTES) return new Response(null, { status: 413 })
    const shown = JSON.parse(decrypt(body, device)) as Shown
    received.push({ endpoint, shown, headers: request.headers })
    return new Response(null, { status: 201, headers: { Location: `${origin}/m/${crypto.randomUUID()}` } })
  }

  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: certificate,
    async fetch(request) {
      const answered = await answer(request)
      calls.push(`${answered.status} ${request.url}`)
      return answered
    },
  })
  const host = `127.0.0.1:${server.port}`
  const origin = `https://${host}`

  return {
    calls,
    received,
    mishaps,
    subscribe() {
      const device = newDevice(`${origin}/push/`)
      devices.set(device.subscription.endpoint, device)
      return device
    },
    unsubscribe: ({ subscription }) => void gone.add(subscription.endpoint),
    settings: {
      ...keys,
      EVENT_PUSH_SUBJECT: 'mailto:event@example.com',
      EVENT_PUSH_SERVICES: host,
      NODE_EXTRA_CA_CERTS: join(directory, 'tls/cert.pem'),
    },
    async stop() {
      await server.stop(true)
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** The status with which a push service rejects the headers of a request; null: it accepts them. */
async function refusalOf(headers: Headers, origin: string, publicKey: string): Promise<number | null> {
  const ttl = headers.get('ttl')
  if (ttl === null || !/^\d+$/.test(ttl) || headers.get('content-encoding') !== 'aes128gcm') return 400
  if (!['very-low', 'low', 'normal', 'high'].includes(headers.get('urgency') ?? 'normal')) return 400
  const [, token, key] = /^vapid t=([\w.-]+), ?k=([\w-]+)$/.exec(headers.get('authorization') ?? '') ?? []
  if (token === undefined || key === undefined) return 401
  const point = Buffer.from(key, 'base64url')
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString('base64url'))
  try {
    const verifier = await importJWK({ kty: 'EC', crv: 'P-256', x: x!, y: y! }, 'ES256')
    const { payload } = await jwtVerify(token, verifier, { audience: origin, algorithms: ['ES256'] })
    if (payload.exp === undefined || payload.exp > Date.now() / 1_000 + DAY_S) return 401
    if (!/^(mailto:|https:)/.test(payload.sub ?? '')) return 401
  } catch {
    return 401
  }
  // A subscription belongs to the application server whose key the browser was given.
  return key === publicKey ? null : 403
}

/**
 * Decrypts one record of aes128gcm (RFC 8188) with keys of Web Push (RFC 8291).
 * @throws when it is not for this device
 */
export function decrypt(body: Buffer, { subscription, privateKey }: PushTestDevice): string {
  const salt = body.subarray(0, 16)
  const recordSize = body.readUInt32BE(16)
  const idLength = body[20]!
  const senderKey = body.subarray(21, 21 + idLength)
  const sealed = body.subarray(21 + idLength)
  if (idLength !== 65 || sealed.length > recordSize) throw new Error('not one record of Web Push')
  const pair = createECDH('prime256v1')
  pair.setPrivateKey(privateKey)
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), pair.getPublicKey(), senderKey])
  const derive = (from: Buffer, by: Buffer, label: Buffer, length: number) =>
    Buffer.from(hkdfSync('sha256', from, by, label, length))
  const auth = Buffer.from(subscription.keys.auth, 'base64url')
  const input = derive(pair.computeSecret(senderKey), auth, info, 32)
  const key = derive(input, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16)
  const nonce = derive(input, salt, Buffer.from('Content-Encoding: nonce\0'), 12)
  const decipher = createDecipheriv('aes-128-gcm', key, nonce)
  decipher.setAuthTag(sealed.subarray(-16))
  const padded = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()])
  const end = padded.lastIndexOf(2)
  if (end < 0 || padded.subarray(end + 1).some((byte) => byte !== 0)) throw new Error('bad padding')
  return padded.subarray(0, end).toString('utf8')
}

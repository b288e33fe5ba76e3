/**
 * A call to the push service of a browser (RFC 8030), encrypted for the device (RFC 8291) and signed (RFC 8292). The
 * URL comes from a client: only hosts of the settings are called, by https, and redirects are not followed.
 */
import webPush from 'web-push'
import type { PushSettings } from '#shared/runtime/config/setting-values.ts'

/** A message is obsolete after a day. */
export const WORTH_MS = 86_400_000
const TIMEOUT_MS = 10_000
/** Longest wait, even if the service asks for a longer one. */
const MAX_WAIT_MS = 3_600_000

export interface Device {
  readonly endpoint: string
  readonly p256dh: string
  readonly auth: string
}

/** The outcome of a call. `gone`: the device is no longer subscribed. `detail` names no device. */
export type Delivery =
  | { readonly outcome: 'accepted' }
  | { readonly outcome: 'gone' | 'refused'; readonly detail: string }
  /** No answer, or none in time. */
  | { readonly outcome: 'silent'; readonly detail: string; readonly waitMs: 0 }
  | { readonly outcome: 'later'; readonly detail: string; readonly waitMs: number }

export function isAllowedService(services: readonly string[], address: string): boolean {
  const { protocol, host, username, password } = new URL(address)
  if (protocol !== 'https:' || username !== '' || password !== '') return false
  return services.some((service) =>
    service.startsWith('*.') ? host.endsWith(service.slice(1)) : host === service,
  )
}

/**
 * Sends a text to a device. Never rejects.
 * @param ttlMs how long the service stores it for a device that is off
 * @param nowMs when it is sent, epoch milliseconds, for a `Retry-After` that is a date
 */
export async function callPushService(
  settings: PushSettings,
  { endpoint, p256dh, auth }: Device,
  text: string,
  ttlMs: number,
  nowMs: number,
): Promise<Delivery> {
  // The setting may have changed since the device was added.
  if (!isAllowedService(settings.services, endpoint))
    return { outcome: 'refused', detail: 'the push service is not one of EVENT_PUSH_SERVICES' }
  const { host } = new URL(endpoint)
  let request: webPush.RequestDetails
  try {
    const { subject, publicKey, privateKey } = settings
    request = webPush.generateRequestDetails({ endpoint, keys: { p256dh, auth } }, text, {
      vapidDetails: { subject, publicKey, privateKey },
      TTL: Math.max(0, Math.floor(ttlMs / 1_000)),
      urgency: 'high',
    })
  } catch {
    return { outcome: 'refused', detail: 'the message cannot be encrypted for this device' }
  }
  try {
    const answer = await fetch(endpoint, {
      method: 'POST',
      headers: request.headers,
      body: new Uint8Array(request.body!),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    await answer.body?.cancel()
    return deliveryOf(host, answer, nowMs)
  } catch (error) {
    const reason = error instanceof Error && error.name === 'TimeoutError' ? 'in time' : 'at all'
    return { outcome: 'silent', detail: `${host} did not answer ${reason}`, waitMs: 0 }
  }
}

export function deliveryOf(
  host: string,
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  nowMs: number,
): Delivery {
  const detail = `${host} answered ${status}`
  if (status >= 200 && status < 300) return { outcome: 'accepted' }
  if (status === 404 || status === 410) return { outcome: 'gone', detail }
  if (status === 408 || status === 429 || status >= 500)
    return { outcome: 'later', detail, waitMs: waitOf(headers.get('retry-after'), nowMs) }
  return { outcome: 'refused', detail }
}

/** The wait of a `Retry-After`, which is a number of seconds or a date. */
function waitOf(retryAfter: string | null, nowMs: number): number {
  if (retryAfter === null) return 0
  const seconds = Number(retryAfter)
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(retryAfter) - nowMs
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), MAX_WAIT_MS) : 0
}

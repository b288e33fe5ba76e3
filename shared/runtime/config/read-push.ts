/** Settings of Web Push: the keys by which push services know the event, and the push services that it sends to. */
import { createECDH } from 'node:crypto'

/** Push services of Chrome and most browsers on Android, Firefox, Safari and Edge. */
const KNOWN_PUSH_SERVICES =
  'fcm.googleapis.com,*.push.services.mozilla.com,*.push.apple.com,*.notify.windows.com'

export interface PushSettings {
  /** VAPID key pair, base64url. The private key may be empty in a process that does not send. */
  readonly publicKey: string
  readonly privateKey: string
  /** Where a push service reaches the event's people: `mailto:` or `https:`. */
  readonly subject: string
  /** Hosts that subscriptions may name; `*.` stands for any subdomain. */
  readonly services: readonly string[]
}

interface Given {
  readonly EVENT_PUSH_PUBLIC_KEY: string
  readonly EVENT_PUSH_PRIVATE_KEY: string
  readonly EVENT_PUSH_SUBJECT: string
  readonly EVENT_PUSH_SERVICES: string
}

const SERVICE = /^(\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/

/** @returns null without keys: Web Push is off. Adds what is wrong to `faults` */
export function readPush(
  given: Given,
  publicUrl: string,
  isBot: boolean,
  faults: string[],
): PushSettings | null {
  const { EVENT_PUSH_PUBLIC_KEY: publicKey, EVENT_PUSH_PRIVATE_KEY: privateKey } = given
  if (publicKey === '' && privateKey === '') return null
  const subject = given.EVENT_PUSH_SUBJECT || publicUrl
  const services = (given.EVENT_PUSH_SERVICES || KNOWN_PUSH_SERVICES)
    .split(',')
    .map((host) => host.trim().toLowerCase())
  if (publicKey === '')
    faults.push('EVENT_PUSH_PUBLIC_KEY: is missing; bun run push:keys makes a pair of keys')
  else if ((isBot || privateKey !== '') && publicKeyOf(privateKey) !== publicKey)
    faults.push(
      'EVENT_PUSH_PRIVATE_KEY: does not belong to EVENT_PUSH_PUBLIC_KEY; bun run push:keys makes a pair of keys',
    )
  if (!/^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/.test(subject))
    faults.push('EVENT_PUSH_SUBJECT: must begin with mailto: or https://')
  if (!services.every((host) => SERVICE.test(host)))
    faults.push('EVENT_PUSH_SERVICES: must be host names such as fcm.googleapis.com or *.push.apple.com')
  return { publicKey, privateKey, subject, services }
}

/** The public key of a private one; null if it is none. */
function publicKeyOf(privateKey: string): string | null {
  if (!/^[A-Za-z0-9_-]{43}$/.test(privateKey)) return null
  const pair = createECDH('prime256v1')
  try {
    pair.setPrivateKey(privateKey, 'base64url')
  } catch {
    return null
  }
  return pair.getPublicKey('base64url')
}

/**
 * The organisers' messages on this device by Web Push: switched on and off by the pilgrim, and registered
 * again as needed.
 */
import { signal } from '@preact/signals'
import type { ClientError } from '#shared/client/index.ts'
import { keep, kept } from '../session/stored-signals.ts'
import { client, config, noteError } from '../session/service.ts'

/** Id of this device at the service; null: not subscribed. */
export const device = kept<string | null>('walk-push', null)
export const switching = signal(false)
/**
 * Why the last switch failed: permission denied, the browser could not register, or an error of the service.
 */
export const hearError = signal<'denied' | 'failed' | ClientError | null>(null)

/** Whether this browser supports Web Push. On an iPhone only the installed app does. */
export const canHear = (): boolean =>
  'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window

/** An iPhone whose app is not on the home screen. */
export const needsInstall = (): boolean =>
  !canHear() && (navigator as { readonly standalone?: boolean }).standalone === false

const pushManager = async (): Promise<PushManager> => (await navigator.serviceWorker.ready).pushManager

const bytesOf = (key: string): string =>
  atob(
    key
      .replaceAll('-', '+')
      .replaceAll('_', '/')
      .padEnd(Math.ceil(key.length / 4) * 4, '='),
  )

/** Whether the subscription was made with this key of the event. */
function isOf({ options }: PushSubscription, key: string): boolean {
  const current = options.applicationServerKey
  return current === null || String.fromCharCode(...new Uint8Array(current)) === bytesOf(key)
}

/** Subscribes at the browser's push service, then at the event's service. */
async function register(key: string): Promise<void> {
  const manager = await pushManager()
  const subscribed = await manager.getSubscription()
  // A subscription made with an earlier key of the event is useless and blocks a new one.
  if (subscribed !== null && !isOf(subscribed, key)) await subscribed.unsubscribe()
  const subscription = await manager.subscribe({ userVisibleOnly: true, applicationServerKey: key })
  const { endpoint = '', keys: { p256dh = '', auth = '' } = {} } = subscription.toJSON()
  const answer = await client.subscribeToPush({ endpoint, keys: { p256dh, auth } })
  if (answer.ok) {
    keep(device, answer.data.id)
    return
  }
  hearError.value = answer.error
  noteError(answer.error)
}

/**
 * Asks for the permission and registers this device. Call it in a tap handler: browsers ask at no other time.
 */
export async function hear(): Promise<void> {
  const key = config.value?.push_key ?? null
  if (key === null || switching.value) return
  switching.value = true
  hearError.value = null
  try {
    if ((await Notification.requestPermission()) === 'granted') await register(key)
    else hearError.value = 'denied'
  } catch {
    hearError.value = 'failed'
  } finally {
    switching.value = false
  }
}

/** Unsubscribes this device. */
export async function stopHearing(): Promise<void> {
  const id = device.value
  if (id === null || switching.value) return
  switching.value = true
  hearError.value = null
  const answer = await client.unsubscribeFromPush({ id })
  if (answer.ok || answer.error.code === 'not-found') await leave()
  else {
    hearError.value = answer.error
    noteError(answer.error)
  }
  switching.value = false
}

/**
 * Removes the subscription on this device only, as after an erasure. The push service then rejects further
 * messages.
 */
export async function leave(): Promise<void> {
  const had = device.value !== null
  keep(device, null)
  if (!had || !canHear()) return
  const subscription = await pushManager()
    .then((manager) => manager.getSubscription())
    .catch(() => null)
  await subscription?.unsubscribe().catch(() => false)
}

/** Renews the registration at a start: browsers change it, and the phone may have another pilgrim now. */
export async function keepHearing(): Promise<void> {
  const key = config.value?.push_key ?? null
  if (device.value === null || key === null || !canHear()) return
  if (Notification.permission !== 'granted') {
    keep(device, null)
    return
  }
  // Without a network, the next start retries.
  await register(key).catch(() => undefined)
  hearError.value = null
}

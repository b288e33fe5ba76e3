/** Installs the page as an app: it then opens without a network, and its storage is durable. */
import { words } from '../words.ts'
import { signal } from '@preact/signals'
import { Button } from '../../design/button.tsx'
import { needsInstall } from '../notifications/web-push.ts'
import { config } from '../session/service.ts'
import { CodeToCopy } from './recovery-code.tsx'

/** Chromium's install prompt. */
interface InstallEvent extends Event {
  prompt(): Promise<unknown>
}

const offer = signal<InstallEvent | null>(null)

addEventListener('beforeinstallprompt', (event) => {
  event.preventDefault()
  offer.value = event as InstallEvent
})

/** On an iPhone: whether this is the app on the Home Screen, which shares no storage with the browser. */
export const { standalone } = navigator as { readonly standalone?: boolean }

/** An install button if the browser offers one, otherwise instructions. */
export function Install() {
  // Without a service worker, as in LINE's browser on an iPhone, no page opens offline.
  if (
    standalone === true ||
    !('serviceWorker' in navigator) ||
    matchMedia('(display-mode: standalone)').matches
  )
    return null
  const { me, hear } = words.value
  const given = offer.value
  if (given !== null)
    return <Button onClick={() => void given.prompt().then(() => (offer.value = null))}>{me.install}</Button>
  if (standalone === undefined && 'onbeforeinstallprompt' in globalThis) return null
  return (
    <details class="card">
      <summary>{me.install}</summary>
      <div class="stack-2">
        <p>{me.installHow}</p>
        {needsInstall() && (config.value?.push_key ?? null) !== null ? <p>{hear.install}</p> : null}
        {standalone === false ? <CodeToCopy /> : null}
      </div>
    </details>
  )
}

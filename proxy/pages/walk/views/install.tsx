/** Keeps the page as an app: it then opens without a network, and its storage lasts. */
import { words } from '../words.ts'
import { signal } from '@preact/signals'
import { Button } from '../../design/button.tsx'
import { CodeToCopy } from './code.tsx'

/** Chromium's offer to install. */
interface InstallEvent extends Event {
  prompt(): Promise<unknown>
}

const offer = signal<InstallEvent | null>(null)

addEventListener('beforeinstallprompt', (event) => {
  event.preventDefault()
  offer.value = event as InstallEvent
})

/** On an iPhone: whether this is the app on the Home Screen, which keeps nothing in common with the browser. */
export const { standalone } = navigator as { readonly standalone?: boolean }

export function Install() {
  // Without a service worker, as in LINE's browser on an iPhone, no page opens without a network.
  if (
    standalone === true ||
    !('serviceWorker' in navigator) ||
    matchMedia('(display-mode: standalone)').matches
  )
    return null
  const given = offer.value
  return (
    <section class="card stack-2">
      <h2>{words.value.me.install}</h2>
      {given === null ? (
        <>
          <p>{words.value.me.installHow}</p>
          {standalone === false ? <CodeToCopy /> : null}
        </>
      ) : (
        <Button onClick={() => void given.prompt().then(() => (offer.value = null))}>
          {words.value.me.installNow}
        </Button>
      )}
    </section>
  )
}

/** A new version of the app: used as soon as nobody looks, or when the pilgrim says so. Nothing is lost either way. */
import { signal } from '@preact/signals'

export const updateReady = signal(false)

/** Loads the app anew as soon as nobody looks. */
export const reloadWhenHidden = (): void =>
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') location.reload()
  })

export function watchUpdates(): void {
  const worker = navigator.serviceWorker
  if (worker === undefined) return
  // The first worker of a page brings no new version.
  let had = worker.controller !== null
  worker.addEventListener('controllerchange', () => {
    if (had) updateReady.value = true
    had = true
  })
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') {
      if (updateReady.value) location.reload()
    } else void worker.getRegistration().then((registration) => registration?.update().catch(() => undefined))
  })
}

/** A new version of the app: used as soon as nobody looks, or when the pilgrim says so. Nothing is lost either way. */
import { signal } from '@preact/signals'

export const updateReady = signal(false)

let underWay = 0

/** Work that a reload would end: the app is not loaded anew by itself meanwhile. */
export async function withoutReload<T>(work: Promise<T>): Promise<T> {
  underWay++
  return work.finally(() => underWay--)
}

/** Loads the app anew as soon as nobody looks. */
export const reloadWhenHidden = (): void =>
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden' && underWay === 0) location.reload()
  })

export function watchUpdates(): void {
  const worker = navigator.serviceWorker
  if (worker === undefined) return
  // The app's first worker brings no new version. Before it, the public map's worker may serve the page.
  let had = worker.controller?.scriptURL.startsWith(new URL('.', location.href).href) ?? false
  worker.addEventListener('controllerchange', () => {
    if (had && !updateReady.value) reloadWhenHidden()
    updateReady.value = had
    had = true
  })
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible')
      void worker.getRegistration().then((registration) => registration?.update().catch(() => undefined))
  })
}

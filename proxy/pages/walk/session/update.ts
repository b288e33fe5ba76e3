/**
 * A new version of the app: loaded once the page is hidden, or on the pilgrim's request. Neither loses data.
 */
import { signal } from '@preact/signals'

export const updateReady = signal(false)

let underWay = 0

/** Prevents an automatic reload while the work runs. */
export async function withoutReload<T>(work: Promise<T>): Promise<T> {
  underWay++
  return work.finally(() => underWay--)
}

/** Reloads the app once it is hidden. */
export const reloadWhenHidden = (): void =>
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden' && underWay === 0) location.reload()
  })

export function watchUpdates(): void {
  const worker = navigator.serviceWorker
  if (worker === undefined) return
  // The app's first worker brings no new version. Before it, the public map's worker may control the page.
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

/** Starts a page: its words, its content, and the service worker of a page that works offline. */
import { type ComponentChild, render } from 'preact'
import { Toasts } from '../design/toast.tsx'
import { loadWords, pageWords } from './language.ts'

/** @param content renders the page, once its words are loaded; called again whenever a signal that it reads changes */
export async function startPage(content: () => ComponentChild): Promise<void> {
  await loadWords()
  const Page = () => (
    <>
      {content()}
      <Toasts closeWord={pageWords.value.close} />
    </>
  )
  const place = document.getElementById('page')!
  place.textContent = ''
  render(<Page />, place)
}

/** Registers `sw.js` of the page's folder when the page is idle. */
export function worksOffline(): void {
  if (!('serviceWorker' in navigator)) return
  const { serviceWorker } = navigator
  addEventListener('load', () => void serviceWorker.register('sw.js').catch(() => undefined))
  void claimed(serviceWorker)
}

/** A page that was loading while its first worker started is not controlled by it. */
async function claimed(container: ServiceWorkerContainer): Promise<void> {
  const { active } = await container.ready
  if (container.controller === null) active?.postMessage('claim')
}

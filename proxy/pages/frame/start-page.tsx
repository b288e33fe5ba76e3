/** Starts a page: its words, its content, and the service worker of a page that works offline. */
import { type ComponentChild, render } from 'preact'
import { Toasts } from '../design/toast.tsx'
import { loadWords, pageWords } from './language.ts'

/**
 * @param content draws the page, once its words are there; it is called again whenever a signal that it reads changes
 */
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

/** Registers `sw.js` of the page's own folder when the page has nothing else to do. */
export function worksOffline(): void {
  if (!('serviceWorker' in navigator)) return
  const { serviceWorker } = navigator
  addEventListener('load', () => void serviceWorker.register('sw.js').catch(() => undefined))
  void claimed(serviceWorker)
}

/** A page that was being loaded while its first worker began belongs to none. */
async function claimed(container: ServiceWorkerContainer): Promise<void> {
  const { active } = await container.ready
  if (container.controller === null) active?.postMessage('claim')
}

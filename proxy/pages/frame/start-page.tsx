/** Starts a page: its words, its content, and the service worker of a page that works offline. */
import { type ComponentChild, render } from 'preact'
import type { ReadonlySignal } from '@preact/signals'
import type { Language } from '#shared/contracts/bot.ts'
import type { PageWords } from '#shared/locales/words.ts'
import { Toasts } from '../design/toast.tsx'
import { loadWords, type WordFiles } from './language.ts'

export interface Started<W> {
  readonly words: ReadonlySignal<W>
  readonly choose: (language: Language) => void
}

/**
 * @param files the page's words, by language
 * @returns its words, once the page is there
 * @param content draws the page; it is called again whenever a signal that it reads changes
 */
export async function startPage<W extends { readonly page: PageWords }>(
  files: WordFiles<W>,
  content: (started: Started<W>) => ComponentChild,
): Promise<Started<W>> {
  const started = await loadWords(files)
  const Page = () => (
    <>
      {content(started)}
      <Toasts closeWord={started.words.value.page.close} />
    </>
  )
  const place = document.getElementById('page')!
  place.textContent = ''
  render(<Page />, place)
  return started
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

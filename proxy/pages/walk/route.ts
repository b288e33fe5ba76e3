/** Which view is shown, from the fragment of the address, so that the phone's back gesture works. */
import { signal } from '@preact/signals'

/** The tab to which a view belongs. */
export const TAB_OF = {
  walk: 'walk',
  way: 'way',
  map: 'way',
  say: 'say',
  me: 'me',
  survey: 'say',
  feedback: 'say',
  code: 'me',
  restore: 'me',
  trackers: 'me',
  file: 'me',
  data: 'me',
  display: 'me',
  share: 'way',
  pauses: 'walk',
} as const

export type View = keyof typeof TAB_OF
const VIEWS = Object.keys(TAB_OF) as View[]

const named = (): View => {
  const name = location.hash.slice(1).split('=')[0]
  return VIEWS.find((view) => view === name) ?? 'walk'
}

export const view = signal<View>(named())

/** History of views since the page was loaded. */
let opened: readonly View[] = [view.value]

addEventListener('hashchange', () => {
  view.value = named()
  opened = opened.at(-2) === view.value ? opened.slice(0, -1) : [...opened, view.value]
  requestAnimationFrame(() => readFromTop(document.querySelector('main h1')))
})

/**
 * Scrolls new content to its top, including what is above its heading, and focuses the heading for screen
 * readers.
 */
export function readFromTop(heading: HTMLElement | null): void {
  scrollTo(0, 0)
  heading?.focus({ preventScroll: true })
}

export const show = (next: View): void => {
  location.hash = next
}

/**
 * Goes back to the previous view. If the page was opened at this view, goes to its tab: behind it is another
 * page, or none.
 */
export function goBack(): void {
  if (opened.length > 1) history.back()
  else show(TAB_OF[view.value])
}

/** Which view is shown: the part of the address after `#`, so that the phone's back gesture works. */
import { signal } from '@preact/signals'

export const VIEWS = [
  'walk',
  'way',
  'map',
  'say',
  'me',
  'survey',
  'feedback',
  'code',
  'restore',
  'trackers',
  'data',
  'share',
  'pauses',
] as const
export type View = (typeof VIEWS)[number]

const named = (): View => {
  const name = location.hash.slice(1).split('=')[0]
  return VIEWS.find((view) => view === name) ?? 'walk'
}

export const view = signal<View>(named())

addEventListener('hashchange', () => {
  view.value = named()
  scrollTo(0, 0)
  // Screen readers read the heading of the new view.
  requestAnimationFrame(() => document.querySelector<HTMLElement>('main h1')?.focus())
})

export const show = (next: View): void => {
  location.hash = next
}

/** Which view is shown. The address names the view alone; whom it shows is kept in the history's state, not in a URL. */
import { computed, signal } from '@preact/signals'
import { level, MANAGER, VOLUNTEER } from './session.ts'

export const VIEWS = ['now', 'people', 'reports', 'feedback', 'messages', 'lifecycle', 'house'] as const
export type View = (typeof VIEWS)[number]

const LEVELS: Readonly<Record<View, number>> = {
  now: VOLUNTEER,
  people: MANAGER,
  reports: VOLUNTEER,
  feedback: VOLUNTEER,
  messages: MANAGER,
  lifecycle: MANAGER,
  house: MANAGER,
}

/** Views of the operator's tier. */
export const allowedViews = computed(() => VIEWS.filter((view) => LEVELS[view] <= level.value))

interface Place {
  /** The pilgrim who is shown. */
  readonly person?: string
  /** The panel to show, by its kind. */
  readonly panel?: string
  /** What to search for. */
  readonly search?: string
}

const viewOf = (hash: string): View => VIEWS.find((view) => hash === `#/${view}`) ?? 'now'

const asked = signal<View>(viewOf(location.hash))
export const place = signal<Place>((history.state as Place | null) ?? {})
export const view = computed<View>(() => (allowedViews.value.includes(asked.value) ? asked.value : 'now'))

export function show(next: View, state: Place = {}): void {
  history.pushState(state, '', `#/${next}`)
  asked.value = next
  place.value = state
}

addEventListener('popstate', () => {
  asked.value = viewOf(location.hash)
  place.value = (history.state as Place | null) ?? {}
})

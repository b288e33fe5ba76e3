/**
 * The current view. The address contains only the view's name. Whom it shows is stored for the tab until
 * sign-out; the browser's history, which cannot be cleared, contains only a meaningless key.
 */
import { computed, signal } from '@preact/signals'
import { atSignOut, level, MANAGER, VOLUNTEER } from './session.ts'

const VIEWS = ['now', 'people', 'reports', 'feedback', 'messages', 'lifecycle', 'system'] as const
export type View = (typeof VIEWS)[number]

const LEVELS: Readonly<Record<View, number>> = {
  now: VOLUNTEER,
  people: MANAGER,
  reports: VOLUNTEER,
  feedback: VOLUNTEER,
  messages: MANAGER,
  lifecycle: MANAGER,
  system: MANAGER,
}

/** Views available to a tier. */
export const viewsOf = (tier: number): readonly View[] => VIEWS.filter((view) => LEVELS[view] <= tier)
/** Views available to the operator. */
export const allowedViews = computed(() => viewsOf(level.value))

interface Place {
  readonly person?: string
  /** The person’s name, if it was already shown: the title until everything is read. */
  readonly name?: string | null
  /** The panel to show, by its kind. */
  readonly panel?: string
  readonly search?: string
  readonly silentHours?: number
  readonly withLinks?: boolean
  /** The map shows this pilgrim at this place. */
  readonly at?: { readonly id: string; readonly lat: number; readonly lng: number; readonly name: string }
}

const viewOf = (hash: string): View => VIEWS.find((view) => hash === `#/${view}`) ?? 'now'

/** Places by their keys in the history. */
const KEY = 'console-places'
const MOST = 100
type Places = Readonly<Record<string, Place>>

const readPlaces = (): Places => JSON.parse(sessionStorage.getItem(KEY) ?? '{}') as Places

function keep(place: Place): string {
  const name = crypto.randomUUID()
  const latest = Object.entries(readPlaces()).slice(1 - MOST)
  sessionStorage.setItem(KEY, JSON.stringify(Object.fromEntries([...latest, [name, place]])))
  return name
}

/** The place of the current history entry; none for an entry of another session. */
const placeNow = (): Place => readPlaces()[String(history.state)] ?? {}

const asked = signal<View>(viewOf(location.hash))
export const place = signal<Place>(placeNow())
export const view = computed<View>(() => (allowedViews.value.includes(asked.value) ? asked.value : 'now'))

/** A requested view that the token may not see; null: the shown view was requested. */
export const refusedView = computed<View | null>(() => (asked.value === view.value ? null : asked.value))

export function show(next: View, state: Place = {}): void {
  history.pushState(keep(state), '', `#/${next}`)
  asked.value = next
  place.value = state
}

addEventListener('popstate', () => {
  asked.value = viewOf(location.hash)
  place.value = placeNow()
})

atSignOut(() => {
  sessionStorage.removeItem(KEY)
  place.value = {}
})

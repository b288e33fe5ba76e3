/**
 * Which view is shown. The address names the view alone. Whom it shows is kept for the tab until the operator signs
 * out; the browser's history, which cannot be emptied, has a meaningless name of it.
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

/** Views of a tier. */
export const viewsOf = (tier: number): readonly View[] => VIEWS.filter((view) => LEVELS[view] <= tier)
/** Views of the operator's tier. */
export const allowedViews = computed(() => viewsOf(level.value))

interface Place {
  readonly person?: string
  /** The person’s name, where it was shown: it stands in the title until everything is read. */
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

/** Places by their names in the history. */
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

/** The place of the current entry of the history; none for an entry of another session. */
const placeNow = (): Place => readPlaces()[String(history.state)] ?? {}

const asked = signal<View>(viewOf(location.hash))
export const place = signal<Place>(placeNow())
export const view = computed<View>(() => (allowedViews.value.includes(asked.value) ? asked.value : 'now'))

/** A view that was asked for and that the token may not see; null: what is shown was asked for. */
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

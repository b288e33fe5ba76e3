/** The event as it is now: its name changes while the console is open, when an owner has set another one. */
import { computed, signal } from '@preact/signals'
import type { Data } from '#shared/client/index.ts'
import { nameIn } from '#shared/core/rules/languages.ts'
import { language, pageWords } from '../frame/language.ts'
import { pageData } from '../frame/page-data.ts'
import { type Resource, useResource } from './resource.ts'
import { now } from './clock.ts'
import { client } from './session.ts'

const EVERY_MS = 10_000

/** Null before the first answer. */
export const event = signal<Data<'readEventConfig'> | null>(null)

/** In the operator's language; the name that the page was built with before the first answer. */
export const eventName = computed(() =>
  event.value === null ? pageData().name : nameIn(event.value.names, language.value, pageData().language),
)

/** Nothing of an event was set. */
export const isUnset = computed(() => event.value?.settings_version === 0)

/** The event has not begun. It is active all the same, because check-ins are taken from the first start. */
export const isNotStarted = computed(
  () =>
    event.value?.status === 'active' &&
    (isUnset.value || now.value < Date.parse(event.value.starts_at ?? '')),
)

/** What is followed; a procession before the first answer. */
export const followed = computed(() => event.value?.followed ?? 'procession')
/** The device that leads it, such as the palanquin; empty in a walk, which has none. */
export const leaderName = computed(() => pageWords.value.leader[followed.value])

/** In a rehearsal, every page, card and message says so. */
export const isRehearsal = computed(() => event.value?.rehearsal === true)

/** Every name of the event, for confirmations by typing it. */
export const eventNames = computed(() => [eventName.value, ...Object.values(event.value?.names ?? {})])

export async function readEvent(): Promise<void> {
  const answer = await client.readEventConfig()
  if (answer.ok) event.value = answer.data
}

/** Follows the event while the page is seen. @returns a function that stops it */
export function followEvent(): () => void {
  void readEvent()
  const timer = setInterval(() => {
    if (!document.hidden) void readEvent()
  }, EVERY_MS)
  return () => clearInterval(timer)
}

export type EventSettings = Data<'readEventSettings'>

/** A change by another owner is seen within this time; one that is made meanwhile is refused. */
const SETTINGS_MS = 300_000

/** What owners edit. */
export const useEventSettings = (): Resource<EventSettings> =>
  useResource(client.readEventSettings, SETTINGS_MS, 'event-settings')

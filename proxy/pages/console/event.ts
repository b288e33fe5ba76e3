/** The current event. It changes while the console is open, for example when an owner renames it. */
import { computed, signal } from '@preact/signals'
import type { Data } from '#shared/client/index.ts'
import { nameIn } from '#shared/core/rules/languages.ts'
import { language, pageWords } from '../frame/language.ts'
import { pageData } from '../frame/page-data.ts'
import { type Resource, useResource } from './resource.ts'
import { now } from './clock.ts'
import { client } from './session.ts'

const EVERY_MS = 10_000

/** Null before the first response. */
export const event = signal<Data<'readEventConfig'> | null>(null)

/** The name in the operator's language; before the first response, the name built into the page. */
export const eventName = computed(() =>
  event.value === null ? pageData().name : nameIn(event.value.names, language.value, pageData().language),
)

/** Whether no setting of the event was ever saved. */
export const isUnset = computed(() => event.value?.settings_version === 0)

/**
 * Whether the event has not begun. Its status is active all the same, because check-ins are accepted from the
 * first start.
 */
export const isNotStarted = computed(
  () =>
    event.value?.status === 'active' &&
    (isUnset.value || now.value < Date.parse(event.value.starts_at ?? '')),
)

/** What pilgrims follow; a procession before the first response. */
export const followed = computed(() => event.value?.followed ?? 'procession')
/** Name of the leading device, such as the palanquin; empty for a walk, which has none. */
export const leaderName = computed(() => pageWords.value.leader[followed.value])

/** In a rehearsal, every page, card and message says that it is one. */
export const isRehearsal = computed(() => event.value?.rehearsal === true)

/** Every name of the event, for confirmations that require typing it. */
export const eventNames = computed(() => [eventName.value, ...Object.values(event.value?.names ?? {})])

export async function readEvent(): Promise<void> {
  const answer = await client.readEventConfig()
  if (answer.ok) event.value = answer.data
}

/** Polls the event while the page is visible. @returns a function that stops it */
export function followEvent(): () => void {
  void readEvent()
  const timer = setInterval(() => {
    if (!document.hidden) void readEvent()
  }, EVERY_MS)
  return () => clearInterval(timer)
}

export type EventSettings = Data<'readEventSettings'>

/** Changes by other owners appear within this time; a save in the meantime is rejected. */
const SETTINGS_MS = 300_000

/** The settings that owners edit. */
export const useEventSettings = (): Resource<EventSettings> =>
  useResource(client.readEventSettings, SETTINGS_MS, 'event-settings')

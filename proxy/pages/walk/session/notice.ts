/** The organisers' own text of the privacy notice. It can be long, so it is read only when it is shown. */
import { computed, signal } from '@preact/signals'
import type { Data } from '#shared/client/index.ts'
import { nameIn } from '#shared/core/rules/languages.ts'
import { language } from '../../frame/language.ts'
import { words } from '../words.ts'
import { client, config } from './service.ts'

/** Version of the notice as this page shows it: a translation has its own. Empty: not known. */
export const noticeVersion = computed(() => {
  const version = config.value?.privacy_version
  return version === undefined ? '' : version + words.value.welcome.edition
})

/** Whether a notice of this version is still the one of the event, in the language in which it was read. */
export function isCurrentNotice(agreed: string): boolean {
  const { privacy_version: version, privacy_editions: editions = [] } = config.value ?? {}
  return version !== undefined && ['', ...editions].some((edition) => agreed === version + edition)
}

const read = signal<Data<'readEventNotice'> | null>(null)

/** The notice that the pilgrim is asked to agree to; null: not read yet. */
const current = computed(() => (read.value?.version === config.value?.privacy_version ? read.value : null))

/** Whether the complete text is available to read before agreeing. */
export const isNoticeKnown = computed(() => config.value?.notice?.has_text !== true || current.value !== null)

/** The text in the reader's language, otherwise in the event's default language; null: none. */
export const noticeText = computed(() => {
  const texts = current.value?.texts ?? {}
  return Object.keys(texts).length === 0
    ? null
    : nameIn(texts, language.value, config.value?.language ?? language.value)
})

export async function readNotice(): Promise<void> {
  if (isNoticeKnown.value) return
  const answer = await client.readEventNotice()
  if (answer.ok) read.value = answer.data
}

/** The organisers' own text of the privacy notice. It is read when it is shown, because it can be long. */
import { computed, signal } from '@preact/signals'
import type { Data } from '#shared/client/index.ts'
import { nameIn } from '#shared/core/rules/languages.ts'
import { language } from '../../frame/language.ts'
import { client, config } from './service.ts'

const read = signal<Data<'readEventNotice'> | null>(null)

/** The notice that the pilgrim is asked to agree to; null: it is not read yet. */
const current = computed(() => (read.value?.version === config.value?.privacy_version ? read.value : null))

/** The pilgrim can read all that they are asked to agree to. */
export const isNoticeKnown = computed(() => config.value?.notice?.has_text !== true || current.value !== null)

/** In the reader's language, else in the event's own; null: there is none. */
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

/** The message that is being written, and what it would cost. */
import { computed, signal } from '@preact/signals'
import type { Data, Input } from '#shared/client/index.ts'
import { atSignOut } from '../../session.ts'

export const AUDIENCES = [
  'all',
  'participants',
  'volunteers',
  'managers',
  'owners',
  'completed',
  'inactive',
] as const
export type Audience = (typeof AUDIENCES)[number]

export interface Draft {
  readonly audience: Audience
  /** For inactive participants: hours without a point. */
  readonly hours: number
  readonly title: string
  readonly text: string
  readonly image: string
}

const EMPTY: Draft = { audience: 'volunteers', hours: 24, title: '', text: '', image: '' }

/** It stays while the operator looks at another view. */
export const draft = signal<Draft>(EMPTY)

export type Counted = Data<'sendPush'>
/** The last dry run, and the request that it was for. */
const dryRun = signal<{ readonly counted: Counted; readonly request: string } | null>(null)

export const request = computed((): Input<'sendPush'> => {
  const { audience, hours, title, text, image } = draft.value
  return {
    audience,
    ...(audience === 'inactive' ? { hours } : {}),
    ...(title.trim() === '' ? {} : { title: title.trim() }),
    ...(text.trim() === '' ? {} : { text: text.trim() }),
    ...(image.trim() === '' ? {} : { image_url: image.trim() }),
  }
})

export const isEmpty = computed(() => draft.value.text.trim() === '' && draft.value.image.trim() === '')

/** The count for exactly this message; null once it has changed. */
export const counted = computed(() =>
  dryRun.value?.request === JSON.stringify(request.value) ? dryRun.value.counted : null,
)

export function setCounted(result: Counted): void {
  dryRun.value = { counted: result, request: JSON.stringify(request.value) }
}

export function clearDraft(): void {
  draft.value = { ...EMPTY, audience: draft.value.audience }
  dryRun.value = null
}

atSignOut(() => {
  draft.value = EMPTY
  dryRun.value = null
})

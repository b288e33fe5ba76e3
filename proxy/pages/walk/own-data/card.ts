/** The pilgrim's card. Its address holds the id, which is the key to the walk, so the page shows a copy of the picture. */
import { signal } from '@preact/signals'
import type { ClientError } from '#shared/client/index.ts'
import { person } from '../session/person.ts'
import { client, noteError } from '../session/service.ts'

/** The picture; null until it was asked for. */
export const card = signal<Blob | null>(null)
export const cardError = signal<ClientError | null>(null)
export const drawing = signal(false)

/** Has the card drawn as the walk is now, and reads it. */
export async function readCard(): Promise<void> {
  const userId = person.value?.userId
  if (userId === undefined || drawing.value) return
  drawing.value = true
  const drawn = await client.drawCard({})
  const answer = drawn.ok
    ? await client.download('readCard', { file: `${userId}.png` }, { accept: 'image/png' })
    : drawn
  drawing.value = false
  cardError.value = answer.ok ? null : answer.error
  if (!answer.ok) noteError(answer.error)
  else if ('blob' in answer.data) card.value = answer.data.blob
}

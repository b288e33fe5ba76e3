/** The pilgrim's card. Its address holds the id, which is the key to the walk, so the page shows a copy of the picture. */
import type { Failure } from '#shared/client/index.ts'
import { person } from '../session/person.ts'
import { client, noteError } from '../session/service.ts'

export interface OwnCard {
  readonly ok: true
  readonly picture: Blob
  /** Pixels. */
  readonly width: number
  readonly height: number
}

/** Has the card drawn as the walk is now, and reads it. */
export async function readCard(): Promise<OwnCard | Failure> {
  const drawn = await client.drawCard({})
  const file = `${person.value?.userId ?? ''}.png`
  const answer = drawn.ok ? await client.download('readCard', { file }, { accept: 'image/png' }) : drawn
  if (drawn.ok && answer.ok) {
    const { width, height } = drawn.data
    return { ok: true, picture: answer.data.blob, width, height }
  }
  const failure = answer as Failure
  noteError(failure.error)
  return failure
}

/** The links that a pilgrim has passed on: made, sent, stopped. */
import { signal } from '@preact/signals'
import type { ClientError, Data } from '#shared/client/index.ts'
import { client, noteError } from '../session/service.ts'

export type Share = Data<'createShare'>

/** How long a link shows where the pilgrim is. */
export const LIVE_HOURS = 12

/** Null until they were read. */
export const shares = signal<readonly Share[] | null>(null)
export const shareError = signal<ClientError | null>(null)
/** What failed was a press of the pilgrim, which nobody repeats. */
export const pressFailed = signal(false)
export const showsName = signal(true)

function fail(error: ClientError, pressed = true): null {
  shareError.value = error
  pressFailed.value = pressed
  noteError(error)
  return null
}

/** Changes with each link that is made or stopped: a reading that was asked for before shows what is out of date. */
export const sharesChanged = signal(0)

/** Reads again how often the links were opened. What was read stays where that fails. */
export async function readSharesAgain(): Promise<void> {
  const asked = sharesChanged.peek()
  const answer = await client.listShares({})
  if (!answer.ok) noteError(answer.error)
  else if (asked === sharesChanged.peek()) shares.value = answer.data.items
}

export async function readShares(): Promise<void> {
  shareError.value = null
  const answer = await client.listShares({})
  if (answer.ok) shares.value = answer.data.items
  else fail(answer.error, false)
}

/** @returns null when the service refuses */
export async function makeShare(live: boolean): Promise<Share | null> {
  shareError.value = null
  const answer = await client.createShare({
    show_name: showsName.value,
    ...(live ? { live_hours: LIVE_HOURS } : {}),
  })
  if (!answer.ok) return fail(answer.error)
  sharesChanged.value++
  shares.value = [answer.data, ...(shares.value ?? [])]
  return answer.data
}

/** @returns whether it is stopped */
export async function stopShare(id: string): Promise<boolean> {
  shareError.value = null
  const answer = await client.revokeShare({ id })
  // Stopped by another window, or expired.
  if (!answer.ok && answer.error.code !== 'not-found' && answer.error.code !== 'gone') {
    fail(answer.error)
    return false
  }
  sharesChanged.value++
  shares.value = (shares.value ?? []).filter((one) => one.id !== id)
  return true
}

/** How the queue sends: each check-in into the tally. */
import type { Answer, Client, Data, Sent } from '#shared/client/index.ts'
import { refused, sending, settled, type Tally } from '../checkin/tally.ts'
import { keep } from './kept.ts'
import { client, owner, tally } from './service.ts'

/** The tally before the check-in that is on its way from this window; null: none is. */
let before: Tally | null = null

/** Whether a check-in of this window is on its way, until the app knows what became of it. */
export const isCheckingIn = (): boolean => before !== null

/** The service has answered and counted nothing: with another failure it may have. */
const isRefusal = ({ ok, ...answer }: Answer<Data<'checkIn'>>): boolean =>
  !ok && 'error' in answer && answer.error.status >= 400 && answer.error.status < 500

export const sender: Pick<Client, 'checkIn' | 'syncTrack' | 'identity'> = {
  identity: owner,
  async checkIn(point, options) {
    before = tally.value
    keep(tally, sending(before))
    const answer = await client.checkIn(point, options)
    if (answer.ok) return answer
    if (isRefusal(answer)) keep(tally, refused(tally.value, before))
    before = null
    return answer
  },
  syncTrack: client.syncTrack,
}

/** A check-in has left the queue: the service has it, or will never take it. */
export function tallySettled({ answer }: Pick<Sent, 'answer'>): void {
  // An earlier attempt whose answer was lost has counted it: the figure does not have it yet.
  const counts =
    answer !== null &&
    'in_range' in answer &&
    answer.in_range &&
    (!answer.duplicate || before === null || before.inDoubt)
  keep(tally, settled(tally.value, counts))
  before = null
}

/** Nothing waits any more, so nothing is in doubt: an earlier run ended before it could note that. */
export function nothingInDoubt(): void {
  if (before === null && tally.value.inDoubt) keep(tally, settled(tally.value, false))
}

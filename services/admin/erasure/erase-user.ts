/** Erasing a pilgrim: rows, buffer, live map, caches and pictures go; what they added to the event's sums stays. */
import type { Operator } from '#shared/security/admin-auth.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { time } from '#shared/contracts/fields.ts'
import type { Erasure } from '#shared/contracts/erasure.ts'
import { within } from '#shared/runtime/deadline.ts'
import { isKvUnavailable } from '#shared/kv/kv.ts'
import { ObjectsUnavailable } from '#shared/objects/objects.ts'
import { cardKey } from '#shared/objects/pictures.ts'
import { finishErasure } from './finish-erasure.ts'
import { recordErasure } from './record-erasure.ts'

/** The answer waits this long for what is deleted outside of the database; what is late is repeated in the background. */
const TIMEOUT_MS = 8_000

/**
 * Erases one pilgrim and answers a receipt, which names what could not be done yet. Made again, it goes on with that.
 * @throws Refusal 404 for someone of whom nothing is known; an error of the database, and nothing is erased then
 */
export async function eraseUser(
  context: ServiceContext,
  operator: Operator,
  userId: string,
  requestId: string,
): Promise<Erasure> {
  const elsewhere = await countElsewhere(context, userId)
  let state = await recordErasure(context, operator, userId, requestId, elsewhere)
  const finished = finishErasure(context, state, (noted) => (state = noted))
  await within(finished, TIMEOUT_MS, () => undefined)
  const { erased, erasedAt, remaining } = state
  return { erased, erased_at: time(erasedAt.getTime()), remaining }
}

/** What is known of somebody outside of the database; null: a store does not tell. */
async function countElsewhere({ kv, objects }: ServiceContext, userId: string): Promise<number | null> {
  try {
    const waiting = await kv.peek(userId)
    return waiting.length + ((await objects.head(cardKey(userId))) === null ? 0 : 1)
  } catch (error) {
    if (isKvUnavailable(error) || error instanceof ObjectsUnavailable) return null
    throw error
  }
}

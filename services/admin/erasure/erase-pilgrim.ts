/** Erases a pilgrim from rows, buffer, live map, caches and pictures. Their share of the event's totals stays. */
import type { Actor } from '#shared/service/security/audit-log.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { time } from '#shared/contracts/fields.ts'
import type { Erasure } from '#shared/contracts/erasure.ts'
import { within } from '#shared/runtime/deadline.ts'
import { isKvUnavailable } from '#shared/stores/kv/kv.ts'
import { ObjectsUnavailable } from '#shared/stores/objects/objects.ts'
import { cardKey } from '#shared/stores/objects/pictures.ts'
import { finishErasure } from './erasure-steps.ts'
import { recordErasure } from './record-erasure.ts'

/** The longest time to wait for deletions outside of the database. Later ones continue in the background. */
const TIMEOUT_MS = 8_000

/**
 * Erases one pilgrim and returns a receipt, which lists the parts that remain. A repeated call continues with them.
 * @throws Refusal 404 for an unknown pilgrim; an error of the database, and then nothing is erased
 */
export async function eraseUser(
  context: ServiceContext,
  actor: Actor,
  userId: string,
  requestId: string,
): Promise<Erasure> {
  const elsewhere = await countElsewhere(context, userId)
  let state = await recordErasure(context, actor, userId, requestId, elsewhere)
  const finished = finishErasure(context, state, (noted) => (state = noted))
  await within(finished, TIMEOUT_MS, () => undefined)
  const { erased, erasedAt, remaining } = state
  return { erased, erased_at: time(erasedAt.getTime()), remaining }
}

/** Number of a person's items outside of the database; null when a store is unavailable. */
async function countElsewhere({ kv, objects }: ServiceContext, userId: string): Promise<number | null> {
  try {
    const pending = await kv.peek(userId)
    return pending.length + ((await objects.head(cardKey(userId))) === null ? 0 : 1)
  } catch (error) {
    if (isKvUnavailable(error) || error instanceof ObjectsUnavailable) return null
    throw error
  }
}

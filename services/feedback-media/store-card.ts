/** The one place where a card is stored, and noted. */
import type { ServiceContext } from '#shared/runtime/context.ts'
import { cardKey, newcomersCardKey } from '#shared/objects/pictures.ts'
import { shareCards } from '#shared/schema/cards.ts'
import type { Portrait } from './cards/read-facts.ts'

/** Where the card of this portrait is stored. */
export const keyOf = (userId: string, { isNewcomer, fingerprint }: Portrait): string =>
  isNewcomer ? newcomersCardKey(fingerprint) : cardKey(userId)

/** Notes that the card that is stored under this tag shows what the statistics say at this moment. */
export async function noteCard(
  { db, now }: Pick<ServiceContext, 'db' | 'now'>,
  userId: string,
  { facts, fingerprint, storedPoints }: Portrait,
  etag: string,
): Promise<void> {
  const values = {
    userId,
    fingerprint,
    etag,
    unlocked: facts.unlocked,
    points: storedPoints,
    checkedAt: new Date(now()),
    failedAt: null,
  }
  await db.orm
    .insert(shareCards)
    .values(values)
    .onConflictDoUpdate({ target: shareCards.userId, set: values })
}

/** Stores a card that was drawn. @returns its tag, without quotes */
export async function storeCard(
  context: ServiceContext,
  userId: string,
  portrait: Portrait,
  png: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const { etag } = await context.objects.put(keyOf(userId, portrait), png, { contentType: 'image/png' })
  // The card that newcomers share tells nothing of anybody.
  if (!portrait.isNewcomer) await noteCard(context, userId, portrait, etag)
  return etag
}

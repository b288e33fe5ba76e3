/** Stores cards and their rows. A card from before its pilgrim's erasure is never stored. */
import { eq } from 'drizzle-orm'
import type { Tx } from '#shared/stores/db/db.ts'
import { notFound, type Refusal } from '#shared/runtime/refusal.ts'
import { cardKey, namelessCardKey, newcomersCardKey } from '#shared/stores/objects/pictures.ts'
import { maySharePilgrim } from '#shared/pilgrims/shares.ts'
import { isBeingErased, readGeneration, lockPersonShared } from '#shared/pilgrims/person-lock.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { shareCards, pilgrims } from '#shared/stores/schema/tables.ts'
import type { Portrait } from './read-card-facts.ts'

type Stores = Pick<ServiceContext, 'db' | 'objects' | 'now'>

interface Card {
  readonly userId: string
  readonly named: boolean
  readonly generation: number
  readonly portrait: Pick<Portrait, 'fingerprint' | 'storedPoints' | 'isNewcomer'> & {
    readonly facts: Pick<Portrait['facts'], 'unlocked'>
  }
}

export function keyOf({
  userId,
  named,
  portrait: { isNewcomer, fingerprint },
}: Pick<Card, 'userId' | 'named' | 'portrait'>): string {
  if (isNewcomer) return newcomersCardKey(fingerprint)
  return named ? cardKey(userId) : namelessCardKey(userId)
}

export const unknownPilgrim = (userId: string): Refusal =>
  notFound(`Nothing is known of a pilgrim with the id ${userId}.`)

/**
 * Reads the pilgrim's generation. Call it before reading any other data of a card.
 * @throws Refusal 404 during an erasure, because the buffer may still have points that the database has deleted; and
 *   for a pilgrim who has withdrawn from the event or withdrawn their consent
 */
export async function beginCard({ db }: Pick<Stores, 'db'>, userId: string): Promise<number> {
  // In this order, so that an erasure between the two reads is detected.
  const generation = await db.read(() => readGeneration(db, userId))
  if (await db.read(() => isBeingErased(db, userId))) throw unknownPilgrim(userId)
  const [row] = await db.read(() => db.orm.select().from(pilgrims).where(eq(pilgrims.userId, userId)))
  if (row !== undefined && !maySharePilgrim(row)) throw unknownPilgrim(userId)
  return generation
}

/** Locks out an erasure until the write is committed. @throws Refusal 404 after an erasure since `beginCard` */
async function shareUnerased(tx: Tx, { userId, generation }: Card): Promise<void> {
  await lockPersonShared(tx, userId)
  if ((await readGeneration(tx, userId)) !== generation) throw unknownPilgrim(userId)
}

async function upsertRow(
  tx: Tx,
  { userId, named, portrait }: Card,
  etag: string,
  nowMs: number,
): Promise<void> {
  const { facts, fingerprint, storedPoints } = portrait
  if (!named) {
    // The other columns describe the picture with the name, which a row for this one alone does not have.
    const nameless = { namelessFingerprint: fingerprint, namelessEtag: etag }
    const first = { userId, unlocked: false, points: 0, checkedAt: new Date(nowMs), ...nameless }
    await tx.orm
      .insert(shareCards)
      .values(first)
      .onConflictDoUpdate({ target: shareCards.userId, set: nameless })
    return
  }
  const values = {
    userId,
    fingerprint,
    etag,
    unlocked: facts.unlocked,
    points: storedPoints,
    checkedAt: new Date(nowMs),
    failedAt: null,
  }
  await tx.orm
    .insert(shareCards)
    .values(values)
    .onConflictDoUpdate({ target: shareCards.userId, set: values })
}

/**
 * Records that the stored card with this ETag shows the current statistics.
 * @throws Refusal 404 when the pilgrim has been erased since
 */
export async function recordCard({ db, now }: Stores, card: Card, etag: string): Promise<void> {
  await db.transaction(async (tx) => {
    await shareUnerased(tx, card)
    await upsertRow(tx, card, etag, now())
  })
}

/**
 * Stores a drawn card. A concurrent erasure waits, and then deletes it.
 * @returns its ETag, without quotes
 * @throws Refusal as `recordCard`; nothing is stored then
 */
export async function storeCard(
  { db, objects, now }: Stores,
  card: Card,
  png: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const put = () => objects.put(keyOf(card), png, { contentType: 'image/png' })
  // The shared card of newcomers contains no personal data.
  if (card.portrait.isNewcomer) return (await put()).etag
  return db.transaction(async (tx) => {
    await shareUnerased(tx, card)
    const { etag } = await put()
    await upsertRow(tx, card, etag, now())
    return etag
  })
}

/** Records that a card could not be drawn, unless the pilgrim has been erased. */
export async function recordCardFailure({ db, now }: Stores, userId: string): Promise<void> {
  const failedAt = new Date(now())
  await db.transaction(async (tx) => {
    await lockPersonShared(tx, userId)
    const there = await tx.orm
      .select({ id: pilgrims.userId })
      .from(pilgrims)
      .where(eq(pilgrims.userId, userId))
    if (there.length === 0) return
    await tx.orm
      .insert(shareCards)
      .values({ userId, unlocked: false, points: 0, checkedAt: failedAt, failedAt })
      .onConflictDoUpdate({ target: shareCards.userId, set: { failedAt } })
  })
}

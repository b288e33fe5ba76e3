/** The one place where a card is stored, and noted: never of what was read before its pilgrim was erased. */
import { eq } from 'drizzle-orm'
import type { Writer } from '#shared/bus/outbox.ts'
import { notFound, type Refusal } from '#shared/http/errors.ts'
import { cardKey, newcomersCardKey } from '#shared/objects/pictures.ts'
import { isBeingErased, readGeneration, sharePerson } from '#shared/pilgrims/person-lock.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { shareCards } from '#shared/schema/cards.ts'
import { pilgrims } from '#shared/schema/profiles.ts'
import type { Portrait } from './read-card-facts.ts'

type Stores = Pick<ServiceContext, 'db' | 'objects' | 'now'>

/** A card that is to be stored. */
export interface Card {
  readonly userId: string
  /** As `beginCard` told it. */
  readonly generation: number
  readonly portrait: Pick<Portrait, 'fingerprint' | 'storedPoints' | 'isNewcomer'> & {
    readonly facts: Pick<Portrait['facts'], 'unlocked'>
  }
}

/** Where the card of this portrait is stored. */
export const keyOf = (userId: string, { isNewcomer, fingerprint }: Card['portrait']): string =>
  isNewcomer ? newcomersCardKey(fingerprint) : cardKey(userId)

export const unknownPilgrim = (userId: string): Refusal =>
  notFound(`Nothing is known of a pilgrim with the id ${userId}.`)

/**
 * Before anything of a card is read: how often its pilgrim has been erased.
 * @throws Refusal 404 while they are being erased: the buffer may still hold what the database has forgotten
 */
export async function beginCard({ db }: Pick<Stores, 'db'>, userId: string): Promise<number> {
  // In this order: an erasure between the two is seen, or changes the generation.
  const generation = await db.read(() => readGeneration(db.orm, userId))
  if (await db.read(() => isBeingErased(db.orm, userId))) throw unknownPilgrim(userId)
  return generation
}

/** Keeps an erasure waiting for what is written. @throws Refusal 404 when there has been one since the card was begun */
async function hold(tx: Writer, { userId, generation }: Card): Promise<void> {
  await sharePerson(tx, userId)
  if ((await readGeneration(tx, userId)) !== generation) throw unknownPilgrim(userId)
}

async function note(tx: Writer, { userId, portrait }: Card, etag: string, nowMs: number): Promise<void> {
  const { facts, fingerprint, storedPoints } = portrait
  const values = {
    userId,
    fingerprint,
    etag,
    unlocked: facts.unlocked,
    points: storedPoints,
    checkedAt: new Date(nowMs),
    failedAt: null,
  }
  await tx.insert(shareCards).values(values).onConflictDoUpdate({ target: shareCards.userId, set: values })
}

/**
 * Notes that the card that is stored under this tag shows what the statistics say at this moment.
 * @throws Refusal 404 when the pilgrim has been erased since
 */
export async function noteCard({ db, now }: Stores, card: Card, etag: string): Promise<void> {
  await db.orm.transaction(async (tx) => {
    await hold(tx, card)
    await note(tx, card, etag, now())
  })
}

/**
 * Stores a card that was drawn. An erasure waits meanwhile, and takes it along.
 * @returns its tag, without quotes
 * @throws Refusal 404, and nothing is stored, when the pilgrim has been erased since
 */
export async function storeCard(
  { db, objects, now }: Stores,
  card: Card,
  png: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const put = () => objects.put(keyOf(card.userId, card.portrait), png, { contentType: 'image/png' })
  // The card that newcomers share tells nothing of anybody.
  if (card.portrait.isNewcomer) return (await put()).etag
  return db.orm.transaction(async (tx) => {
    await hold(tx, card)
    const { etag } = await put()
    await note(tx, card, etag, now())
    return etag
  })
}

/** Notes that a card could not be drawn; of somebody who is gone nothing is noted. */
export async function noteFailure({ db, now }: Stores, userId: string): Promise<void> {
  const failed = { failedAt: new Date(now()), checkedAt: new Date(now()) }
  await db.orm.transaction(async (tx) => {
    await sharePerson(tx, userId)
    const there = await tx.select({ id: pilgrims.userId }).from(pilgrims).where(eq(pilgrims.userId, userId))
    if (there.length === 0) return
    await tx
      .insert(shareCards)
      .values({ userId, unlocked: false, points: 0, ...failed })
      .onConflictDoUpdate({ target: shareCards.userId, set: failed })
  })
}

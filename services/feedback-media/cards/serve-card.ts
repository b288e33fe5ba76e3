/** Cards as they are asked for: of this moment where they can be, and drawn at the cost of who asks. */
import { RenderFailed } from '#shared/cards/renderer.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { type CardAnswer, CARD_SIZE } from '#shared/contracts/cards.ts'
import { isUserId } from '#shared/contracts/fields.ts'
import { notFound, Refusal, unavailable } from '#shared/http/errors.ts'
import { cardKey } from '#shared/objects/pictures.ts'
import { within } from '#shared/runtime/deadline.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { charge } from '#shared/security/rate-limits.ts'
import type { Cards, Look, Picture } from './draw-card.ts'

/** Who has a card already does not wait longer for a newer one. */
const TIMEOUT_MS = 3_000

export interface ServedCard extends Picture {
  /** Whether it shows the statistics of this moment; else a newer one is on its way. */
  readonly isCurrent: boolean
}

/** Draws a card. @param address whose limit is charged; null: nobody's */
async function drawFor(
  { config, kv, log }: ServiceContext,
  cards: Cards,
  look: Look,
  address: string | null,
): Promise<Picture> {
  if (address !== null) await charge(kv, 'drawing', address, config.limits.drawing)
  try {
    return await cards.draw(look)
  } catch (error) {
    if (!(error instanceof RenderFailed)) throw error
    log.error('a card could not be drawn', errorFields(error))
    throw unavailable('The card could not be drawn just now: please try again in a moment.')
  }
}

/**
 * `POST og-image`.
 * @param address whose limit a drawing is charged to; null: nobody's
 * @throws Refusal 404 for an unknown pilgrim, 429 for an address that has had too many drawn, 503 when too many wait
 */
export async function drawCard(
  context: ServiceContext,
  cards: Cards,
  userId: string,
  address: string | null,
): Promise<CardAnswer> {
  const look = await cards.look(userId)
  const { etag } = look.current ?? (await drawFor(context, cards, look, address))
  return { url: `${context.config.publicUrl}/api/event/og/${userId}.png`, ...CARD_SIZE, etag: `"${etag}"` }
}

/** The stored card where nobody can tell what it is to show: a dependency is away. @throws what was thrown */
async function findStored(
  { objects, log }: ServiceContext,
  userId: string,
  error: unknown,
): Promise<ServedCard> {
  const stored = error instanceof Refusal ? null : await objects.get(cardKey(userId))
  if (stored === null) throw error
  log.warn('a card is answered as it was stored last', errorFields(error))
  return { ...stored, isCurrent: false }
}

/**
 * `GET og/<userId>.png`: the card of this moment. While it cannot be drawn at once, the stored one is answered, and
 * the new one drawn behind it.
 * @param file the last part of the path
 * @param address whose limit a drawing is charged to
 * @throws Refusal 404 for anything but a known pilgrim's card; where none is stored 429 for an address that has had
 * too many drawn, and 503 when too many wait
 */
export async function findCard(
  context: ServiceContext,
  cards: Cards,
  file: string,
  address: string,
): Promise<ServedCard> {
  const userId = file.endsWith('.png') ? file.slice(0, -'.png'.length) : ''
  if (!isUserId(userId)) throw notFound('There is no card of that name.')
  let look: Look
  try {
    look = await cards.look(userId)
  } catch (error) {
    return await findStored(context, userId, error)
  }
  if (look.current !== null) return { ...look.current, isCurrent: true }
  const drawing = drawFor(context, cards, look, address).then((card) => ({ ...card, isCurrent: true }))
  const { stored } = look
  if (stored === null) return await drawing
  const asStored = (): ServedCard => ({ ...stored, isCurrent: false })
  const drawnOrStored = drawing.catch((error: unknown) => {
    // A full queue and a full limit are said by the short life of what is answered.
    if (!(error instanceof Refusal)) context.log.warn('a card is drawn later', errorFields(error))
    return asStored()
  })
  return await within(drawnOrStored, TIMEOUT_MS, asStored)
}

/** Serves cards: current ones if possible. A drawing is charged to the client's rate limit. */
import { RenderFailed } from '#shared/runtime/picture-renderer/renderer.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { type CardAnswer, CARD_SIZE } from '#shared/contracts/cards.ts'
import { isUserId } from '#shared/contracts/fields.ts'
import { notFound, Refusal, unavailable } from '#shared/runtime/refusal.ts'
import { within } from '#shared/runtime/deadline.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { DRAWING } from '#shared/service/security/request-prices.ts'
import { priceOf, charge } from '#shared/service/security/caller-and-address-limits.ts'
import type { Cards, Look, Picture } from './draw-card.ts'

/** If a card is stored, a newer one is awaited at most this long. */
const TIMEOUT_MS = 3_000

interface ServedCard extends Picture {
  /** Whether it shows the current statistics; else a newer one is being drawn. */
  readonly isCurrent: boolean
}

/** Draws a card. @param address whose limit is charged; null: no charge */
async function drawFor(
  { config, kv, log, addresses, kept }: ServiceContext,
  cards: Cards,
  look: Look,
  address: string | null,
): Promise<Picture> {
  if (address !== null) {
    await charge(kv, 'drawing', address, config.limits.drawing)
    addresses.charge(address, DRAWING.ms)
    // A redrawn card replaces the previous one.
    if (look.stored === null) kept.charge('feedback-media', address, DRAWING.bytes)
  }
  try {
    return await cards.draw(look)
  } catch (error) {
    if (!(error instanceof RenderFailed)) throw error
    log.error('a card could not be drawn', errorFields(error))
    throw unavailable('The card could not be drawn. Please try again in a moment.')
  }
}

/**
 * `POST og-image`.
 * @param address whose limit a drawing is charged to; null: no charge
 * @throws Refusal 404 for an unknown pilgrim, 429 for an address over its limit, 503 when the queue is full
 */
export async function drawCard(
  context: ServiceContext,
  cards: Cards,
  userId: string,
  address: string | null,
): Promise<CardAnswer> {
  const look = await cards.look(userId)
  if (address !== null) context.reads.charge(address, priceOf(look.portrait.pending))
  const { etag } = look.current ?? (await drawFor(context, cards, look, address))
  return { url: `${context.config.publicUrl}/api/event/og/${userId}.png`, ...CARD_SIZE, etag: `"${etag}"` }
}

/**
 * `GET og/<userId>.png`: the current card, or the stored one as in `serveLook`.
 * @param file the last part of the path
 * @param address whose limit a drawing is charged to
 * @throws Refusal 404 for an unknown card; others as `serveLook`
 */
export async function findCard(
  context: ServiceContext,
  cards: Cards,
  file: string,
  address: string,
): Promise<ServedCard> {
  const userId = file.endsWith('.png') ? file.slice(0, -'.png'.length) : ''
  if (!isUserId(userId)) throw notFound('There is no card with this name.')
  return serveLook(context, cards, await cards.look(userId), address)
}

/**
 * The card of a look. If drawing takes longer, the stored card is served and the new one is drawn in the background.
 * @param address whose limit a drawing is charged to
 * @throws Refusal without a stored card: 429 for an address over its limit, and 503 when the queue is full
 */
export async function serveLook(
  context: ServiceContext,
  cards: Cards,
  look: Look,
  address: string,
): Promise<ServedCard> {
  context.reads.charge(address, priceOf(look.portrait.pending))
  if (look.current !== null) return { ...look.current, isCurrent: true }
  const drawing = drawFor(context, cards, look, address).then((card) => ({ ...card, isCurrent: true }))
  const { stored } = look
  if (stored === null) return await drawing
  const asStored = (): ServedCard => ({ ...stored, isCurrent: false })
  const drawnOrStored = drawing.catch((error: unknown) => {
    // A full queue or a used-up limit is answered with the stored card.
    if (!(error instanceof Refusal))
      context.log.warn('a card could not be drawn now; the stored one is served', errorFields(error))
    return asStored()
  })
  return await within(drawnOrStored, TIMEOUT_MS, asStored)
}

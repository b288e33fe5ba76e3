/**
 * The end of the event: the cards of all who have one, or unlocked the festive one, are drawn in the background. What is done
 * stands in the table of cards, so a killed process loses at most the card it was drawing; what arrives later
 * (points in flight, a changed name) makes a card due again, and the same loop redraws it.
 */
import { readStatus } from '#shared/lifecycle/activity-status.ts'
import { RenderFailed } from '#shared/cards/renderer.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { recordCards, waitForFinalFlush } from '#shared/lifecycle/end-progress.ts'
import { Refusal } from '#shared/http/errors.ts'
import { errorFields } from '#shared/runtime/log.ts'
import type { Cards } from './draw-card.ts'
import { countCards, dueCards } from './due-cards.ts'
import { noteFailure } from './store-card.ts'

const LOCK = 'draw-cards'
/** Longer than one card may take, so that the lock never falls while its owner works. */
const LOCK_MS = 30_000
const RENEW_MS = 10_000
const PAGE = 100
const SWEEP_MS = 20_000
/** The final flush may be under way: a card drawn before it would be drawn twice. */
const FLUSH_WAIT_MS = 60_000
const NOTE_EVERY = 10

export interface CardDrawing {
  /** Draws all due cards, or joins the one who does. Rejects when it could not go through them. */
  drawAll(): Promise<void>
  start(): void
  stop(): Promise<void>
}

/** Draws one card. One that cannot be drawn costs only itself: it is noted, and tried again later. */
async function drawOne(context: ServiceContext, cards: Cards, userId: string): Promise<void> {
  try {
    await cards.bring(userId)
  } catch (error) {
    // Erased meanwhile.
    if (error instanceof Refusal && error.httpStatus === 404) return
    if (!(error instanceof RenderFailed)) throw error
    context.log.error('a card could not be drawn; it is tried again later', errorFields(error))
    await noteFailure(context, userId)
  }
}

/** Goes once through all pilgrims whose card is due. @param token of the lock, renewed on the way */
async function drawDue(
  context: ServiceContext,
  cards: Cards,
  token: string,
  stopping: AbortSignal,
): Promise<void> {
  const { db, kv, log } = context
  const note = async () => recordCards(db.orm, await countCards(context))
  await waitForFinalFlush(db, FLUSH_WAIT_MS, stopping)
  await note()
  let renewed = performance.now()
  let looked = 0
  let page: string[] = []
  do {
    page = await dueCards(context, page.at(-1) ?? '', PAGE)
    for (const userId of page) {
      if (stopping.aborted) return
      if (performance.now() - renewed > RENEW_MS) {
        if (!(await kv.renewLock(LOCK, token, LOCK_MS))) return
        renewed = performance.now()
      }
      await drawOne(context, cards, userId)
      if (++looked % NOTE_EVERY === 0) await note()
    }
  } while (page.length === PAGE)
  if (looked > 0) log.info('the due cards are drawn', { cards: looked })
  await note()
}

export function createCardDrawing(context: ServiceContext, cards: Cards): CardDrawing {
  const { db, kv, log } = context
  const stopping = new AbortController()
  let running: Promise<void> | null = null
  let timer: Timer | undefined

  const underLock = async (): Promise<void> => {
    const token = await kv.lock(LOCK, LOCK_MS)
    // Somebody else draws; whatever they leave, the next sweep finds.
    if (token === null) return
    try {
      await drawDue(context, cards, token, stopping.signal)
    } finally {
      await kv
        .unlock(LOCK, token)
        .catch((error: unknown) => log.warn('a lock is left to its time', errorFields(error)))
    }
  }

  const drawAll = (): Promise<void> => (running ??= underLock().finally(() => (running = null)))

  const sweep = async (): Promise<void> => {
    try {
      if ((await readStatus(db)).status === 'ended') await drawAll()
    } catch (error) {
      log.warn('the drawing of cards goes on later', errorFields(error))
    }
  }

  return {
    drawAll,
    start() {
      timer = setInterval(() => void sweep(), SWEEP_MS)
      void sweep()
    },
    async stop() {
      stopping.abort()
      clearInterval(timer)
      // Who asked for it is told; here only its end matters.
      await running?.catch(() => undefined)
    },
  }
}

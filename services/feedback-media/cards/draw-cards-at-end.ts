/**
 * Draws cards in the background after the end of the event: for everyone who has a card or has unlocked the
 * achievement. Progress is stored per card, so a killed process repeats at most the card that it was drawing. Later
 * changes (late points, a new name) make a card due again, and the same loop redraws it.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { readStatus, recordCards, waitForFinalFlush } from '#shared/pilgrims/activity-status.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { reportFailedItem } from '#shared/stores/repeated-work.ts'
import { Refusal } from '#shared/runtime/refusal.ts'
import { errorFields } from '#shared/runtime/log.ts'
import type { Cards } from './draw-card.ts'
import { isDatabaseUnavailable, isStatementTimeout } from '#shared/stores/db/db.ts'
import { isKvUnavailable } from '#shared/stores/kv/kv.ts'
import { ObjectsUnavailable } from '#shared/stores/objects/objects.ts'
import { CLOCKS_MS, countCards, stale, wanted } from '#shared/pilgrims/cards-at-end.ts'
import { ending } from '#shared/stores/schema/tables.ts'
import { recordCardFailure } from './store-card.ts'

const LOCK = 'draw-cards'
/** Longer than one card may take, so that the lock does not expire while its owner works. */
const LOCK_MS = 30_000
const RENEW_MS = 10_000
const PAGE = 100
const SWEEP_MS = 20_000
/** Maximum wait for the final flush: a card drawn before it would be drawn twice. */
const FLUSH_WAIT_MS = 60_000
const RECORD_EVERY = 10

/** Draws one card. A failure is recorded, and retried after the other cards. */
async function drawOne(context: ServiceContext, cards: Cards, userId: string): Promise<void> {
  try {
    await cards.bring(userId)
  } catch (error) {
    // The pilgrim was erased meanwhile.
    if (error instanceof Refusal && error.httpStatus === 404) return
    // The renderer is busy, or a store is down: the card is not the cause.
    if (error instanceof Refusal || isKvUnavailable(error)) throw error
    if (isDatabaseUnavailable(error) && !isStatementTimeout(error)) throw error
    if (error instanceof ObjectsUnavailable) await context.objects.probe()
    reportFailedItem(context, 'cards at the end', error)
    await recordCardFailure(context, userId)
  }
}

/**
 * Waits for the final flush, and until a new card counts as drawn after the end: an earlier one would be drawn twice. It
 * may take longer than a lock lasts.
 */
async function waitForFigures({ db, now }: ServiceContext, stopping: AbortSignal): Promise<void> {
  await waitForFinalFlush(db, FLUSH_WAIT_MS, stopping)
  const rows = await db.read(() => db.orm.select().from(ending))
  const endedMs = rows[0]?.endedAt.getTime() ?? 0
  const leftMs = Math.min(endedMs + CLOCKS_MS - now(), CLOCKS_MS)
  if (leftMs > 0) await wait(leftMs, undefined, { signal: stopping }).catch(() => undefined)
}

/** Draws each due card once. @param token of the lock, which is renewed meanwhile */
async function drawDue(
  context: ServiceContext,
  cards: Cards,
  token: string,
  stopping: AbortSignal,
): Promise<void> {
  const { db, kv, log } = context
  const recordProgress = async () => recordCards(db, await countCards(context))
  await recordProgress()
  let renewed = performance.now()
  let drawn = 0
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
      if (++drawn % RECORD_EVERY === 0) await recordProgress()
    }
  } while (page.length === PAGE)
  if (drawn > 0) log.info('the due cards are drawn', { cards: drawn })
  await recordProgress()
}

export function createCardDrawing(context: ServiceContext, cards: Cards) {
  const { db, kv, log } = context
  const stopping = new AbortController()
  let running: Promise<void> | null = null
  let timer: Timer | undefined

  const drawLocked = async (): Promise<void> => {
    await waitForFigures(context, stopping.signal)
    const token = await kv.lock(LOCK, LOCK_MS)
    // Another process draws. The next sweep finds what it leaves.
    if (token === null) return
    try {
      await drawDue(context, cards, token, stopping.signal)
    } finally {
      await kv
        .unlock(LOCK, token)
        .catch((error: unknown) =>
          log.warn('the lock of the card drawing could not be released; it expires', errorFields(error)),
        )
    }
  }

  /** Draws all due cards, or joins a running drawing. Rejects when it is interrupted by a failure. */
  const drawAll = (): Promise<void> => (running ??= drawLocked().finally(() => (running = null)))

  const sweep = async (): Promise<void> => {
    try {
      if ((await readStatus(db)).status === 'ended') await drawAll()
    } catch (error) {
      log.warn('the drawing of cards is interrupted; the next sweep continues', errorFields(error))
    }
  }

  return {
    drawAll,
    start(): void {
      timer = setInterval(() => void sweep(), SWEEP_MS)
      void sweep()
    },
    async stop(): Promise<void> {
      stopping.abort()
      clearInterval(timer)
      // The caller of drawAll gets the error. Here only the end of the work matters.
      await running?.catch(() => undefined)
    },
  }
}

const RETRY_MS = 600_000
/** The next pilgrims whose cards are due, ordered by id. */
async function dueCards({ db, now }: ServiceContext, after: string, limit: number): Promise<string[]> {
  const rows = await db.read(
    () => db.sql<{ user_id: string }[]>`
      SELECT p.user_id
      FROM pilgrims p
      JOIN pilgrim_totals t ON t.user_id = p.user_id
      LEFT JOIN share_cards c ON c.user_id = p.user_id
      WHERE p.user_id > ${after} AND ${wanted(db)} AND ${stale(db)}
        AND (c.failed_at IS NULL OR c.failed_at < from_epoch_ms(${now() - RETRY_MS}))
      ORDER BY p.user_id LIMIT ${limit}`,
  )
  return rows.map(({ user_id }) => user_id)
}

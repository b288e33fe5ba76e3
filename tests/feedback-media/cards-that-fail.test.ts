/** A card that cannot be drawn, for whatever reason, does not block others at the end of the event. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createCardDrawing } from '#services/feedback-media/cards/draw-cards-at-end.ts'
import type { Cards } from '#services/feedback-media/cards/draw-card.ts'
import { findCard } from '#services/feedback-media/cards/serve-card.ts'
import { countCards } from '#shared/pilgrims/cards-at-end.ts'
import { DatabaseTimeout } from '#shared/stores/db/db.ts'
import { ObjectsUnavailable } from '#shared/stores/objects/objects.ts'
import { cardKey } from '#shared/stores/objects/pictures.ts'
import { RenderFailed } from '#shared/runtime/picture-renderer/renderer.ts'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { type Late, openLate } from '#tests/erasure/late-writers.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'

const FAULTS: Readonly<Record<string, () => Error>> = {
  a: () => new TypeError('not a card'),
  b: () => new ObjectsUnavailable('objects: a file is damaged'),
  c: () => new RenderFailed('too large'),
}

describeOnServers('cards at the end', () => {
  let late: Late
  beforeAll(async () => {
    late = await openLate()
    for (const userId of ['a', 'b', 'c', 'd', 'e']) {
      const { sql } = late.context.db
      await sql`INSERT INTO pilgrims (user_id, created_at, updated_at) VALUES (${userId}, now(), now())`
      await sql`INSERT INTO pilgrim_totals (user_id, points) VALUES (${userId}, 1)`
      await sql`
        INSERT INTO share_cards (user_id, fingerprint, etag, unlocked, points, checked_at)
        VALUES (${userId}, 'old', 'old', false, 0, now())`
    }
  })
  afterAll(() => late?.close())

  test('those that fail are set aside for ten minutes and counted, and the others are drawn', async () => {
    let nowMs = Date.now()
    const context = { ...late.context, now: () => nowMs, metrics: createMetrics('test') }
    const tried: string[] = []
    const bring: Cards['bring'] = async (userId) => {
      tried.push(userId)
      const fault = FAULTS[userId]
      if (fault !== undefined) throw fault()
    }
    const drawing = createCardDrawing(context, { bring } as Cards)
    await drawing.drawAll()
    expect(tried).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(await context.metrics.page()).toMatch(/queue="cards at the end".*\} 3/)
    const failed = await context.db.sql<{ id: string }[]>`
      SELECT user_id AS id FROM share_cards WHERE failed_at IS NOT NULL ORDER BY 1`
    expect(failed.map(({ id }) => id)).toEqual(['a', 'b', 'c'])
    await drawing.drawAll()
    expect(tried.slice(5)).toEqual(['d', 'e'])
    nowMs += 600_001
    await drawing.drawAll()
    expect(tried.slice(7)).toEqual(['a', 'b', 'c', 'd', 'e'])

    // An unavailable store is not the card's fault: nothing is recorded.
    nowMs += 600_001
    await context.db.sql`UPDATE share_cards SET failed_at = NULL`
    const away = () => Promise.reject(new ObjectsUnavailable('objects: away'))
    const objects = { ...context.objects, probe: away }
    const interrupted = createCardDrawing({ ...context, objects }, { bring: away } as unknown as Cards)
    expect(String(await rejection(interrupted.drawAll()))).toContain('objects: away')
    expect(await context.db.sql`SELECT FROM share_cards WHERE failed_at IS NOT NULL`).toHaveLength(0)
  })

  test('those from before the end are drawn again, even where nothing else has changed', async () => {
    const { context } = late
    const { sql } = context.db
    await sql`UPDATE pilgrims SET updated_at = now() - interval '1 hour'`
    await sql`UPDATE share_cards SET points = 1, failed_at = NULL, checked_at = now() - interval '2 minutes'`
    expect(await countCards(context)).toEqual({ done: 5, total: 5 })
    await sql`INSERT INTO ending (id, ended_at) VALUES (1, now() - interval '1 minute')`
    const steps: string[] = []
    const lock: typeof context.kv.lock = (...given) => {
      steps.push('locked')
      return context.kv.lock(...given)
    }
    const bring: Cards['bring'] = async (userId) => {
      steps.push(userId)
      if (userId !== 'e') await sql`UPDATE share_cards SET checked_at = now() WHERE user_id = ${userId}`
    }
    const kv = { ...context.kv, lock }
    const drawn = createCardDrawing({ ...context, kv }, { bring } as Cards).drawAll()
    // Other processes may draw while this one waits for the final flush.
    steps.push('flushed')
    await sql`UPDATE ending SET flushed_at = now()`
    await drawn
    expect(steps).toEqual(['flushed', 'locked', 'a', 'b', 'c', 'd', 'e'])
    expect(await countCards(context)).toEqual({ done: 4, total: 5 })
  })

  test('while Postgres does not answer, no stored card is shown: its pilgrim may have withdrawn', async () => {
    const { objects } = late.context
    await objects.put(cardKey('d'), new Uint8Array([1]), { contentType: 'image/png' })
    const look: Cards['look'] = () => Promise.reject(new DatabaseTimeout())
    const found = findCard(late.context, { look } as Cards, 'd.png', '192.0.2.1')
    expect(await rejection(found)).toBeInstanceOf(DatabaseTimeout)
  })
})

/** A card that cannot be drawn, for whatever reason, does not block others at the end of the event. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createCardDrawing } from '#services/feedback-media/cards/draw-cards-at-end.ts'
import type { Cards } from '#services/feedback-media/cards/draw-card.ts'
import { ObjectsUnavailable } from '#shared/stores/objects/objects.ts'
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
})

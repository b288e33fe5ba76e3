/**
 * Views of a link: counted in memory, written in batches without blocking anyone, and deleted with the link.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { createViewCounter } from '#services/feedback-media/shares/count-views.ts'
import { createShare, listShares, revokeShare } from '#services/feedback-media/shares/manage-shares.ts'
import { DatabaseTimeout } from '#shared/stores/db/db.ts'
import { newShareId } from '#shared/pilgrims/shares.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { shares } from '#shared/stores/schema/tables.ts'
import { type Late, openLate } from '#tests/erasure/late-writers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { newAppId } from '#tests/helpers/test-stack.ts'

const NOON = Date.parse('2026-04-12T04:00:31.500Z')

describeOnServers('the views of a link', () => {
  let late: Late
  beforeAll(async () => {
    late = await openLate()
  })
  afterAll(() => late?.close())
  const at = (nowMs: number): ServiceContext => ({ ...late.context, now: () => nowMs })
  const make = async (userId = newAppId()) => ({
    userId,
    share: await createShare(late.context, { user_id: userId, show_name: false }),
  })
  const viewsOf = async (userId: string) =>
    (await listShares(late.context, userId)).items.map(({ views, last_viewed_at: last }) => [views, last])

  test('thousands of views of many readers are one write, and the last is told to the minute', async () => {
    const [popular, other] = [await make(), await make()]
    let statements = 0
    const sql = new Proxy(late.context.db.sql, {
      apply: (target, self, given) => {
        statements++
        return Reflect.apply(target, self, given) as unknown
      },
    })
    const counter = createViewCounter({ ...at(NOON), db: { ...late.context.db, sql } })
    expect(popular.share).toMatchObject({ views: 0, last_viewed_at: null })
    for (let i = 0; i < 20_000; i++) counter.count(popular.share.id)
    counter.count(other.share.id)
    // Nothing is written yet: a kill here loses these views.
    expect(await viewsOf(popular.userId)).toEqual([[0, null]])
    await counter.write()
    expect(statements).toBe(1)
    expect(await viewsOf(popular.userId)).toEqual([[20_000, '2026-04-12T04:00:00.000Z']])
    expect(await viewsOf(other.userId)).toEqual([[1, '2026-04-12T04:00:00.000Z']])
    // A replica with a slower clock moves no time back; nothing is counted twice.
    const slow = createViewCounter(at(NOON - 3_600_000))
    slow.count(popular.share.id)
    await Promise.all([slow.write(), counter.write()])
    expect(await viewsOf(popular.userId)).toEqual([[20_001, '2026-04-12T04:00:00.000Z']])
  })

  test('without the database views wait, and a row that somebody else holds is written later', async () => {
    const { userId, share } = await make()
    let away = true
    const sql = new Proxy(late.context.db.sql, {
      apply: (target, self, given) => {
        if (away) throw new DatabaseTimeout()
        return Reflect.apply(target, self, given) as unknown
      },
    })
    const counter = createViewCounter({ ...at(NOON), db: { ...late.context.db, sql } })
    counter.count(share.id)
    await counter.write()
    away = false
    counter.count(share.id)
    await late.context.db.transaction(async (tx) => {
      await tx.orm.select().from(shares).where(eq(shares.id, share.id)).for('update')
      await counter.write()
    })
    expect(await viewsOf(userId)).toEqual([[0, null]])
    await counter.stop()
    expect((await viewsOf(userId))[0]![0]).toBe(2)
  })

  test('a link that has ended takes its views along, and ids without a link are forgotten', async () => {
    const [revoked, erased] = [await make(), await make()]
    const counter = createViewCounter(at(NOON))
    for (const { share } of [revoked, erased]) counter.count(share.id)
    await revokeShare(late.context, revoked.share.id, revoked.userId)
    await late.erase(erased.userId)
    for (let i = 0; i < 3; i++) await counter.write()
    expect(await late.found([revoked.share.id, erased.share.id])).toEqual([])
    // Invented ids fill the memory only up to its limit, until the next write.
    while (counter.count(newShareId()));
    const { userId, share } = await make()
    expect(counter.count(share.id)).toBe(false)
    for (let i = 0; i < 3; i++) await counter.write()
    expect(counter.count(share.id)).toBe(true)
    await counter.stop()
    expect((await viewsOf(userId))[0]![0]).toBe(1)
  })

  test('and its place are hidden from who only knows the pilgrim’s id, even by the id of the link', async () => {
    const request = { user_id: `U${newAppId()}`, show_name: false }
    const { id } = await createShare(late.context, request)
    const fields = { views: 7, lastViewedAt: new Date(), liveUntil: new Date(Date.now() + 3_600_000) }
    await late.context.db.orm.update(shares).set(fields).where(eq(shares.id, id))
    expect(await createShare(late.context, { ...request, id })).toMatchObject({
      id,
      views: 0,
      last_viewed_at: null,
      live_until: null,
    })
  })
})

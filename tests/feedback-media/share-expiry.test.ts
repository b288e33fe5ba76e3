/** What a link shows and until when: it ends after 180 days, and the line begins when it is first shown. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { changeShare, createShare, listShares } from '#services/feedback-media/shares/manage-shares.ts'
import type { Cards } from '#services/feedback-media/cards/draw-card.ts'
import { findShare, readShare } from '#services/feedback-media/shares/read-share.ts'
import { createShowShare } from '#services/feedback-media/shares/show-share.ts'
import { createMaintenance, deleteExpired } from '#services/scheduler/maintenance.ts'
import { pack } from '#shared/points/point.ts'
import { SHARE_WORDS } from '#shared/locales/by-language.ts'
import { bringBotShare } from '#shared/pilgrims/shares.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { shares } from '#shared/stores/schema/tables.ts'
import { type Late, openLate } from '#tests/erasure/late-writers.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { newAppId } from '#tests/helpers/test-stack.ts'
import { restore, rules, sync } from '#tests/kv/drivers.ts'
import { point } from '#tests/scheduler/walks.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const MADE = Date.parse('2026-04-12T02:00:00Z')
const LAST = MADE + 180 * DAY_MS - 1

describeOnServers('the time of a link', () => {
  let late: Late
  beforeAll(async () => {
    late = await openLate()
  })
  afterAll(() => late?.close())
  const at = (nowMs: number): ServiceContext => ({ ...late.context, now: () => nowMs })
  /** An expired link draws no card. */
  const noCards = {
    look: () => Promise.reject(new Error('a card of an ended link is drawn')),
  } as unknown as Cards
  const show = (nowMs: number, file: string) =>
    createShowShare(
      at(nowMs),
      noCards,
    )({
      request: new Request(`https://localhost/s/${file}`, { headers: { 'accept-language': 'en' } }),
      file,
      lang: undefined,
    })

  /** The times of the line, epoch milliseconds. */
  const lineAt = async (nowMs: number, id: string): Promise<number[]> => {
    const share = await findShare(at(nowMs), id)
    const { live } = await readShare(at(nowMs), share!)
    return live!.line.map(({ t }) => t)
  }
  const send = (userId: string, times: readonly number[], lng: (i: number) => number = () => 120.67) =>
    restore(
      late.context.kv,
      sync(userId, [], {
        entries: times.map((sentMs, i) => pack(point({ sentMs, lat: 24 + i * 1e-5, lng: lng(i) }))),
      }),
      rules({ pendingMax: 100_000 }),
    )

  test('the line has nothing from a time when the link did not show it', async () => {
    const userId = newAppId()
    const { id } = await createShare(at(MADE), { user_id: userId, show_name: false })
    const minutes = Array.from({ length: 120 }, (_, i) => MADE + i * MINUTE_MS)
    await send(userId, minutes)
    const set = (minute: number, hours: number | null) =>
      changeShare(at(MADE + minute * MINUTE_MS), id, { user_id: userId, live_hours: hours })
    const shown = async (minute: number) =>
      (await lineAt(MADE + minute * MINUTE_MS, id)).map((t) => (t - MADE) / MINUTE_MS)
    const until = (from: number) => Array.from({ length: 120 - from }, (_, i) => from + i)
    // Shared without the position, and changed after half an hour.
    await set(30, 1)
    expect(await shown(45)).toEqual(until(30))
    // Extending the time while the position is shown does not restart the line.
    await set(50, 1)
    expect(await shown(55)).toEqual(until(30))
    await set(60, null)
    await set(80, 1)
    expect(await shown(85)).toEqual(until(80))
    // The time has expired before it is extended.
    await set(80 + 61, 1)
    expect(await shown(80 + 62)).toEqual([])
  })

  test('a phone that sends without measure makes no long line', async () => {
    const userId = newAppId()
    const { id } = await createShare(at(MADE), { user_id: userId, live_hours: 6, show_name: false })
    const count = 10_000
    const times = Array.from({ length: count }, (_, i) => MADE + Math.floor((i * 6 * 60 * MINUTE_MS) / count))
    // A shape that makes simplifying expensive: each omitted part costs a pass over the rest.
    await send(userId, times, (i) => 120.67 + ((i % 2 === 0 ? 1 : -1) * (count - i)) / count)
    const line = await lineAt(times.at(-1)!, id)
    expect(line.length).toBeLessThanOrEqual(6 * 60 * 4 + 1)
    expect(line.at(-1)).toBe(times.at(-1))
  })

  test('a link works for 180 days, and then it is gone: page, card, list and changes', async () => {
    const userId = newAppId()
    const share = await createShare(at(MADE), { user_id: userId, live_hours: 240, show_name: false })
    expect(share.expires_at).toBe(new Date(LAST + 1).toISOString())
    const { id } = share

    expect((await show(LAST, id)).status).toBe(200)
    expect((await listShares(at(LAST), userId)).items.map((one) => one.id)).toEqual([id])
    // A change does not extend a link's lifetime.
    const changed = await changeShare(at(LAST), id, { user_id: userId, live_hours: 240 })
    expect(changed.expires_at).toBe(share.expires_at)

    const ended = await show(LAST + 1, id)
    expect(ended.status).toBe(410)
    const html = await ended.text()
    expect(html).toContain(SHARE_WORDS.en.goneTitle)
    expect(html).not.toContain(userId)
    expect(await rejection(show(LAST + 1, `${id}.png`))).toMatchObject({ httpStatus: 410 })
    expect((await listShares(at(LAST + 1), userId)).items).toEqual([])
    const late = changeShare(at(LAST + 1), id, { user_id: userId, live_hours: 1 })
    expect(await rejection(late)).toMatchObject({ httpStatus: 404 })
  })

  test('a new link takes the place of those that have expired', async () => {
    const userId = newAppId()
    const { id: old } = await createShare(at(MADE), { user_id: userId, show_name: false })
    const { id } = await createShare(at(LAST + 1), { user_id: userId, show_name: false })
    const rows = await late.context.db.orm.select().from(shares).where(eq(shares.userId, userId))
    expect(rows.map((row) => row.id)).toEqual([id])
    expect(old).not.toBe(id)
  })

  test('a link of somebody who has withdrawn shows nothing, also where a withdrawal has left its row', async () => {
    const { sql } = late.context.db
    const userId = newAppId()
    const { id } = await createShare(at(MADE), { user_id: userId, show_name: true })
    expect(await findShare(at(MADE), id)).not.toBeNull()
    // A concurrently running older release may not know links.
    await sql`UPDATE pilgrims SET participant_status = 'withdrawn' WHERE user_id = ${userId}`
    expect(await findShare(at(MADE), id)).toBeNull()
    await sql`UPDATE pilgrims SET participant_status = 'active', consent_withdrawn = true WHERE user_id = ${userId}`
    expect(await findShare(at(MADE), id)).toBeNull()
  })

  test('within the hour nothing is left of an expired link, nor of the times in which a link has shown a place', async () => {
    const { sql, orm } = late.context.db
    const userId = newAppId()
    const make = (nowMs: number, hours: number | null) =>
      createShare(at(nowMs), {
        user_id: userId,
        show_name: true,
        ...(hours === null ? {} : { live_hours: hours }),
      })
    const [ended, over, live] = [await make(MADE, 1), await make(MADE + DAY_MS, 1), await make(LAST, 1)]
    const rows = async () => {
      const all = await orm.select().from(shares).where(eq(shares.userId, userId))
      return Object.fromEntries(all.map(({ id, liveUntil, liveSince }) => [id, [liveUntil, liveSince]]))
    }
    const until = new Date(LAST + 60 * MINUTE_MS)
    await deleteExpired({ sql }, LAST, late.context)
    expect(await rows()).toEqual({
      [ended.id]: [null, null],
      [over.id]: [null, null],
      [live.id]: [until, new Date(LAST)],
    })
    // An expired time may be set again.
    await changeShare(at(LAST), over.id, { user_id: userId, live_hours: 2 })
    // The scheduler does this at its start and each hour.
    const maintenance = createMaintenance(at(LAST + 1))
    maintenance.start()
    await maintenance.stop()
    const twoHours = new Date(LAST + 120 * MINUTE_MS)
    expect(await rows()).toEqual({
      [over.id]: [twoHours, new Date(LAST)],
      [live.id]: [until, new Date(LAST)],
    })
    expect((await show(LAST + 1, ended.id)).status).toBe(410)
  })

  test('the bot’s link keeps its address and is renewed for as long as the bot uses it', async () => {
    const userId = newAppId()
    await createShare(at(MADE), { user_id: userId, show_name: false })
    const bring = (nowMs: number) => late.context.db.transaction((tx) => bringBotShare(tx, userId, nowMs))
    const id = (await bring(MADE))!
    expect(await bring(MADE + 89 * DAY_MS)).toBe(id)
    expect((await show(LAST + 1, id)).status).toBe(410)
    expect(await bring(MADE + 91 * DAY_MS)).toBe(id)
    expect((await show(LAST + 1, id)).status).toBe(200)
    expect((await show(MADE + (91 + 180) * DAY_MS, id)).status).toBe(410)
  })
})

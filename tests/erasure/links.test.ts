/** Links that a pilgrim passes on, and the card without the name, end with the pilgrim. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { removeLeftovers } from '#services/admin/erasure/finish-erasures.ts'
import { type Cards, createCards } from '#services/feedback-media/cards/draw-card.ts'
import { beginCard, storeCard } from '#services/feedback-media/cards/store-card.ts'
import { createShare } from '#services/feedback-media/shares/manage-shares.ts'
import { findShare } from '#services/feedback-media/shares/read-share.ts'
import { createShowShare } from '#services/feedback-media/shares/show-share.ts'
import { linkOfPilgrim } from '#services/line-bot/bot/load-pilgrim-context.ts'
import { setPhone } from '#services/survey-profile/write-profile.ts'
import { namelessCardKey } from '#shared/stores/objects/pictures.ts'
import { openRenderer } from '#shared/runtime/picture-renderer/renderer.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { createAddressLimit } from '#shared/service/security/rate-limits.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { type Late, newUser, OPEN_MS, openLate } from './late-writers.ts'

const PORTRAIT = { fingerprint: 'f', storedPoints: 0, isNewcomer: false, facts: { unlocked: false } }
const PICTURE = new Uint8Array(Buffer.from('a picture'))

describeOnServers('links of an erased pilgrim', () => {
  let late: Late
  let context: ServiceContext
  beforeAll(async () => {
    late = await openLate()
    context = late.context
  }, OPEN_MS)
  afterAll(() => late.close(), OPEN_MS)
  const erase = (userId: string) => late.erase(userId)
  const found = (words: readonly string[]) => late.found(words)
  const phone = (userId: string) => setPhone(context, { user_id: userId, phone: '0912345678' })

  test('an erasure ends links and deletes the card without the name; a bot’s link is not made after it', async () => {
    const userId = newUser()
    await phone(userId)
    const { id } = await createShare(context, { user_id: userId, show_name: false })
    const bot = await linkOfPilgrim(context, userId, Date.now())
    expect(await linkOfPilgrim(context, userId, Date.now())).toBe(bot)
    const botId = bot!.split('/').at(-1)!
    const card = { userId, named: false, generation: await beginCard(context, userId), portrait: PORTRAIT }
    await storeCard(context, card, PICTURE)
    expect(await context.objects.head(namelessCardKey(userId))).not.toBeNull()
    const askedMs = Date.now()
    await Bun.sleep(2)
    expect((await erase(userId)).erased).toMatchObject({ shares: 2, pictures: 1 })
    expect(await found([userId, id, botId])).toEqual([])
    for (const one of [id, botId]) expect(await findShare(context, one)).toBeNull()
    expect(await linkOfPilgrim(context, userId, askedMs)).toBeNull()
    expect(await rejection(storeCard(context, card, PICTURE))).toMatchObject({ httpStatus: 404 })
    // What a killed process has left is removed.
    await context.objects.put(namelessCardKey(userId), PICTURE, { contentType: 'image/png' })
    await removeLeftovers(context)
    expect(await found([userId])).toEqual([])
  })

  test('an erasure while the picture of a link is drawn ends the link, and its answer names nobody', async () => {
    const userId = newUser()
    await phone(userId)
    const { id } = await createShare(context, { user_id: userId, show_name: true, live_hours: null })
    const renderer = openRenderer()
    const cards = createCards(context, renderer)
    const draw: Cards['draw'] = async (look) => {
      await erase(userId)
      return cards.draw(look)
    }
    const reads = createAddressLimit({ max: 100, windowMs: 60_000 })
    const given = { ...context, reads, addressOf: () => 'somewhere' } as ServiceContext
    // A pilgrim with a point has a picture of their own.
    const look: Cards['look'] = async (of, named) => {
      const seen = await cards.look(of, named)
      return { ...seen, portrait: { ...seen.portrait, isNewcomer: false }, stored: null, current: null }
    }
    const show = createShowShare(given, { ...cards, look, draw })
    const request = new Request(`https://localhost/s/${id}.png`)
    const refused = await rejection(show({ request, file: `${id}.png`, lang: undefined }))
    await renderer.close()
    expect(refused).toMatchObject({ httpStatus: 410, message: expect.not.stringContaining(userId) })
  }, 60_000)
})

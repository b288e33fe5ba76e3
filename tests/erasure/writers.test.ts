/** Writers that read a person before the erasure and write after it, and what an erasure leaves of others' data. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { assignRole } from '#services/admin/pilgrims/change-pilgrim.ts'
import { removeLeftovers } from '#services/admin/erasure/finish-erasures.ts'
import {
  beginCard,
  recordCard,
  recordCardFailure,
  storeCard,
} from '#services/feedback-media/cards/store-card.ts'
import { createShare } from '#services/feedback-media/shares/manage-shares.ts'
import { subscribe } from '#services/line-bot/web-push/manage-subscriptions.ts'
import { createSender } from '#services/line-bot/sending/send-messages.ts'
import { applyWebhookEvent } from '#services/line-bot/webhook/apply-webhook-event.ts'
import { createWebhookSpool, storeWebhookEvents } from '#services/line-bot/webhook/store-webhook-events.ts'
import { recordConsent } from '#services/survey-profile/record-consent.ts'
import { setPhone } from '#services/survey-profile/write-profile.ts'
import { LineEvent } from '#shared/contracts/bot.ts'
import { Refusal } from '#shared/runtime/refusal.ts'
import { userHash, type Kv } from '#shared/stores/kv/kv.ts'
import type { Line } from '#shared/service/line/line-client.ts'
import { cardKey, namelessCardKey } from '#shared/stores/objects/pictures.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { OPERATOR } from '#tests/admin/backup-harness.ts'
import { textEvent } from '#tests/helpers/line-webhook.ts'
import { newDevice } from '#tests/helpers/push-service.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { mendKvCopies } from '#shared/pilgrims/kv-copies.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { type Late, newUser, openLate } from './late-writers.ts'
import { type Cards, createCards } from '#services/feedback-media/cards/draw-card.ts'
import { findShare } from '#services/feedback-media/shares/read-share.ts'
import { createShowShare } from '#services/feedback-media/shares/show-share.ts'
import { linkOfPilgrim } from '#services/line-bot/bot/load-pilgrim-context.ts'
import { openRenderer } from '#shared/runtime/picture-renderer/renderer.ts'
import { createAddressLimit } from '#shared/service/security/caller-and-address-limits.ts'

const PORTRAIT = { fingerprint: 'f', storedPoints: 0, isNewcomer: false, facts: { unlocked: false } }
/** The context of a service with Web Push. */
const withPush = (context: ServiceContext): ServiceContext => {
  const push = { publicKey: '', privateKey: '', subject: '', services: ['127.0.0.1:9'] }
  return { ...context, config: { ...context.config, push } }
}
const PICTURE = new Uint8Array(Buffer.from('a picture'))

describeOnServers('writers that are late', () => {
  let late: Late
  let context: ServiceContext
  beforeAll(async () => {
    late = await openLate()
    context = late.context
  })
  afterAll(() => late?.close())
  const erase = (userId: string) => late.erase(userId)
  const found = (words: readonly string[]) => late.found(words)
  const consent = (userId: string) => recordConsent(context, { user_id: userId, agreed: true, version: '1' })
  const phone = (userId: string) => setPhone(context, { user_id: userId, phone: '0912345678' })

  test('a card whose drawing began before the erasure is not stored after it, and its failure is not recorded', async () => {
    const userId = newUser()
    await phone(userId)
    const generation = await beginCard(context, userId)
    const card = { userId, named: true, generation, portrait: PORTRAIT }
    expect(await storeCard(context, card, PICTURE)).toBeString()
    expect((await erase(userId)).erased.pictures).toBe(1)
    expect(await rejection(storeCard(context, card, PICTURE))).toMatchObject({ httpStatus: 404 })
    expect(await rejection(recordCard(context, card, 'tag'))).toMatchObject({ httpStatus: 404 })
    await recordCardFailure(context, userId)
    expect(await found([userId])).toEqual([])
    // The card of a new person is stored.
    await consent(userId)
    const newCard = { ...card, generation: await beginCard(context, userId) }
    expect(await storeCard(context, newCard, PICTURE)).toBeString()
    await erase(userId)
  })

  test('an erasure waits for a card that is being stored, and deletes it', async () => {
    const userId = newUser()
    await phone(userId)
    const generation = await beginCard(context, userId)
    const slow = Promise.withResolvers<void>()
    const objects = {
      ...context.objects,
      put: async (...args: Parameters<typeof context.objects.put>) => {
        await slow.promise
        return context.objects.put(...args)
      },
    }
    const card = { userId, named: true, generation, portrait: PORTRAIT }
    const storing = storeCard({ ...context, objects }, card, PICTURE)
    await Bun.sleep(50)
    const erasing = erase(userId)
    await Bun.sleep(100)
    slow.resolve()
    await storing
    expect((await erasing).erased.pictures).toBe(1)
    expect(await context.objects.head(cardKey(userId))).toBeNull()
  })

  test('objects that a killed process has left are removed, and objects with a row are not', async () => {
    const [gone, back] = [newUser(), newUser()]
    for (const userId of [gone, back]) {
      await phone(userId)
      await erase(userId)
      await context.objects.put(cardKey(userId), PICTURE, { contentType: 'image/png' })
      await context.kv.hide(userId, true)
    }
    await consent(back)
    await storeCard(
      context,
      { userId: back, named: true, generation: await beginCard(context, back), portrait: PORTRAIT },
      PICTURE,
    )
    await removeLeftovers(context)
    await context.kv.setStatus({ status: 'active', version: 1, message: null })
    await mendKvCopies(context)
    expect(await found([gone])).toEqual([])
    expect(await context.objects.head(cardKey(back))).not.toBeNull()
    await erase(back)
  })

  test('a request from before the erasure is refused when it writes after it', async () => {
    const userId = newUser()
    await phone(userId)
    const cameAt = Date.now()
    await Bun.sleep(2)
    await erase(userId)
    const before = { ...context, now: () => cameAt }
    const refused = await rejection(setPhone(before, { user_id: userId, phone: '0987654321' }))
    expect(refused).toBeInstanceOf(Refusal)
    expect(refused).toMatchObject({ httpStatus: 410, reason: 'erased' })
    for (const write of [
      () => createShare(before, { user_id: userId, show_name: true }),
      () =>
        subscribe(
          withPush(before),
          { user_id: userId, ...newDevice('https://127.0.0.1:9/').subscription },
          '192.0.2.1',
        ),
      () => recordConsent(before, { user_id: userId, agreed: true, version: '1' }),
      () => assignRole(before, OPERATOR, { user_id: userId, role: 'manager' }),
    ])
      expect(await rejection(write())).toMatchObject({ httpStatus: 410, reason: 'erased' })
    expect(await found([userId, '0987654321'])).toEqual([])
  })

  test('a message to the bot from before the erasure is not applied, stored or read from the spool after it', async () => {
    const userId = newUser()
    const event = () => LineEvent.parse(textEvent(userId, 'words-of-before'))
    const [known, waiting, spooled] = [event(), event(), event()]
    await storeWebhookEvents(context, [known])
    await Bun.sleep(2)
    await erase(userId)
    expect(await applyWebhookEvent(context, known)).toBe(false)
    expect(await storeWebhookEvents(context, [waiting])).toBe(0)
    const spool = createWebhookSpool(context)
    await spool.put([spooled])
    await spool.drain()
    expect(await found([userId, 'words-of-before'])).toEqual([])
    await Bun.sleep(2)
    expect(await storeWebhookEvents(context, [event()])).toBe(1)
    await erase(userId)
    expect(await found([userId, 'words-of-before'])).toEqual([])
  })

  test('a person’s spooled events are deleted with them, and others’ stay', async () => {
    const [userId, other] = [newUser(), newUser()]
    await phone(userId)
    const spool = createWebhookSpool(context)
    await spool.put([userId, other].map((id) => LineEvent.parse(textEvent(id, 'hello'))))
    await erase(userId)
    expect(await found([userId])).toEqual([])
    expect(await found([other])).toHaveLength(1)
    await spool.drain()
    await erase(other)
  })

  test.each(['recipients', 'one'])('LINE refuses a call while a recipient is erased: %s', async (kind) => {
    const { db } = context
    const [gone, stays] = [newUser(), newUser()]
    await phone(gone)
    const people = kind === 'one' ? [gone] : [gone, stays, newUser()]
    await db.sql`
      WITH m AS (
        INSERT INTO messages (id, cause, cause_key, audience, forced, state, recipients, left_out, created_at)
        VALUES (gen_random_uuid(), 'push', ${crypto.randomUUID()}, '{}', true, 'sending', ${people.length}, '{}', now())
        RETURNING id)
      INSERT INTO message_chunks (message_id, state, recipients, size, body, retry_key, due_at)
      SELECT id, 'waiting', ${JSON.stringify(people)}::text::jsonb, ${people.length}, '[]', gen_random_uuid(),
        now() - interval '1 minute' FROM m`
    const told: (readonly string[])[] = []
    const line = {
      multicast: async (to: readonly string[]) => {
        told.push(to)
        if (to.includes(gone)) {
          await erase(gone)
          return {
            outcome: 'refused',
            fault: 'recipients',
            detail: "The property, 'to', is invalid",
          } as const
        }
        return { outcome: 'accepted', requestId: null } as const
      },
    }
    const sender = createSender(context, line as unknown as Line)
    sender.start()
    const waiting = async () => (await db.sql`SELECT FROM message_chunks WHERE state = 'waiting'`).length
    await until(async () => (await waiting()) === 0, 'the message to be settled')
    await sender.stop()
    expect(await found([gone])).toEqual([])
    expect(told.slice(1).flat()).toEqual(people.filter((userId) => userId !== gone))
  })

  test('a screenshot is deleted with the feedback that named it first, and not with another one', async () => {
    const { db, objects } = context
    const [owner, other] = [newUser(), newUser()]
    const shot = (fill: string) => ({
      file: `${fill.repeat(32)}.png`,
      key: `screenshots/${fill.repeat(32)}.png`,
    })
    const [shared, own] = [shot('a'), shot('b')]
    for (const { key } of [shared, own]) await objects.put(key, PICTURE, { contentType: 'image/png' })
    const names = (userId: string, file: string, host = '') => db.sql`
      INSERT INTO feedback (user_id, category, description, status, screenshot_url, created_at, updated_at)
      VALUES (${userId}, 'bug', 'd', 'new', ${`${host}/api/event/feedback-image/${file}`}, now(), now())`
    await names(owner, shared.file)
    await names(other, shared.file, 'https://elsewhere.test')
    await names(other, own.file)
    expect((await erase(other)).erased.pictures).toBe(1)
    expect([await objects.head(shared.key), await objects.head(own.key)].map(Boolean)).toEqual([true, false])
    expect((await erase(owner)).erased.pictures).toBe(1)
    expect(await objects.head(shared.key)).toBeNull()
  })

  test('a person who is only mentioned can be erased', async () => {
    const userId = newUser()
    await context.db.sql`
      INSERT INTO audit_log (at, role, token_name, token_fingerprint, action, details, request_id)
      VALUES (now(), 'owner', 'ana', 'f', 'set-user-status', ${JSON.stringify({ user_id: userId })}::text::jsonb, 'r')`
    await erase(userId)
    expect(await found([userId])).toEqual([])
    expect(await found([userHash(userId)])).not.toEqual([])
    const never = await rejection(erase(newUser()))
    expect(never).toMatchObject({ httpStatus: 404 })
    expect(String(never)).not.toContain('The last one was erased at')
    expect(String(await rejection(erase(userId)))).toContain('The last one was erased at 20')
  })

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
    // Remains of a killed process are removed.
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
    // A pilgrim with a point has their own picture.
    const look: Cards['look'] = async (of, named) => {
      const seen = await cards.look(of, named)
      return { ...seen, portrait: { ...seen.portrait, isNewcomer: false }, stored: null, current: null }
    }
    const show = createShowShare(given, { ...cards, look, draw })
    const request = new Request(`https://localhost/s/${id}.png`)
    const refused = await rejection(show({ request, file: `${id}.png`, lang: undefined }))
    await renderer.close()
    expect(refused).toMatchObject({ httpStatus: 410, message: expect.not.stringContaining(userId) })
  })

  test('after two consents the kv has the database’s state, whichever of them reaches it last', async () => {
    const { db, kv } = context
    for (const agreed of [true, false]) {
      const userId = newUser()
      let calls = 0
      const held: Kv = {
        ...kv,
        async hide(...args) {
          if (++calls === 1) await Bun.sleep(150)
          await kv.hide(...args)
        },
      }
      const slow = { ...context, kv: held }
      const first = recordConsent(slow, { user_id: userId, agreed: !agreed, version: '1' })
      await Bun.sleep(50)
      await Promise.all([first, recordConsent(slow, { user_id: userId, agreed, version: '1' })])
      const [row] = await db.sql<{ hidden: boolean }[]>`
          SELECT consent_withdrawn AS hidden FROM pilgrims WHERE user_id = ${userId}`
      expect({ agreed, hidden: (await kv.hidden(0)).includes(userId) }).toEqual({
        agreed,
        hidden: row!.hidden,
      })
      await erase(userId)
    }
  })

  test('nobody removes a role above their own, even while it is being assigned', async () => {
    const manager = { ...OPERATOR, role: 'manager', level: 2, name: 'bob' } as const
    for (let i = 0; i < 20; i++) {
      const userId = newUser()
      await setPhone(context, { user_id: userId, phone: '0912345678' })
      const give = assignRole(context, OPERATOR, { user_id: userId, role: 'owner' })
      const take = assignRole(context, manager, { user_id: userId, role: 'volunteer' })
      await Promise.allSettled([give, take])
      const [row] = await context.db.sql<{ role: string }[]>`
          SELECT role FROM role_assignments WHERE user_id = ${userId}`
      expect(row!.role).toBe('owner')
      await erase(userId)
    }
  })
})

/** The webhook and the bot's answers, embedded and on servers. */
import { afterAll, expect } from 'bun:test'
import { profileEndpoint, photoCountEndpoint } from '#shared/contracts/profile.ts'
import { webhookEndpoint } from '#shared/contracts/bot.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import {
  type Mishap,
  type Sent,
  lineSettings,
  lineUser,
  startLineServer,
} from '#tests/helpers/line-server.ts'
import { deliver, lineEvent, signatureOf, textEvent } from '#tests/helpers/line-webhook.ts'
import { until } from '#tests/helpers/wait.ts'
import { checkIn } from '#tests/helpers/test-stack.ts'
import { describeBothStacksAtOnce } from '#tests/helpers/open-test-stack.ts'

const lines = { embedded: startLineServer(), real: startLineServer() }
afterAll(() => Promise.all([lines.embedded.stop(), lines.real.stop()]))
let person = 0xa000
const json = (messages: unknown): string => JSON.stringify(messages)

describeBothStacksAtOnce(
  'the bot',
  (stack, test) => {
    const line = lines[stack.kind]
    const newUser = (language?: string): string => {
      const userId = lineUser(++person)
      if (language !== undefined) line.profiles.set(userId, { displayName: `P${person}`, language })
      return userId
    }
    const repliesTo = (event: Record<string, unknown>): Sent[] =>
      line.sent.filter(({ kind, to }) => kind === 'reply' && to[0] === event.replyToken)
    const reply = (event: Record<string, unknown>): Promise<Sent> =>
      until(() => repliesTo(event)[0], 'an answer of the bot')
    const tell = async (...events: Record<string, unknown>[]) =>
      dataOf(await deliver(stack, events), webhookEndpoint)
    const photosOf = async (userId: string) => {
      const counted = await stack.fetch(`/api/event/photos/count?user_id=${userId}`)
      return (await dataOf(counted, photoCountEndpoint)).photo_count
    }

    test('only a signature over the raw body is accepted', async () => {
      await sentenceOf(await deliver(stack, [], null), 401, 'unauthorized')
      await sentenceOf(await deliver(stack, [], 'AAAA'), 401, 'unauthorized')
      await sentenceOf(await deliver(stack, [], signatureOf('another body')), 401, 'unauthorized')
      expect(await tell()).toEqual({ received: 0 })
      const broken = '{"events": ['
      const post = (body: string) =>
        stack.fetch('/api/event/webhook', {
          method: 'POST',
          body,
          headers: { 'X-Line-Signature': signatureOf(body) },
        })
      await sentenceOf(await post(broken), 400, 'invalid-request')
      await sentenceOf(await post('{"events": 1}'), 400, 'invalid-request')
      expect((await post('{"events":[{"type":"new-kind"},null,7]}')).status).toBe(200)
    })

    test('a repeated delivery is accepted once, an altered one never', async () => {
      const user = newUser('en')
      const event = lineEvent(user, {
        type: 'message',
        message: { type: 'image' },
        // Old signatures are valid, because LINE redelivers after failures.
        timestamp: Date.now() - 86_400_000,
      })
      const body = JSON.stringify({ destination: 'U0', events: [event] })
      const send = (text: string, signature: string) =>
        stack.fetch('/api/event/webhook', {
          method: 'POST',
          body: text,
          headers: { 'X-Line-Signature': signature },
        })
      const signature = signatureOf(body)
      const replays = await Promise.all(Array.from({ length: 8 }, () => send(body, signature)))
      for (const answer of replays) await dataOf(answer, webhookEndpoint)
      // An event that went through the spool is recognised by its id.
      const next = lineEvent(user, { type: 'message', message: { type: 'image' } })
      expect(await tell(next)).toEqual({ received: 1 })
      await until(async () => (await photosOf(user)) >= 2, 'both photos to count')
      expect(await photosOf(user)).toBe(2)
      for (const altered of [`${body} `, body.replace('image', 'imagf'), body.replace('"U0"', '"U1"')])
        await sentenceOf(await send(altered, signature), 401, 'unauthorized')
      const first = signature.startsWith('A') ? 'B' : 'A'
      const wrong = [signature.slice(0, -2), signature.toLowerCase(), `${first}${signature.slice(1)}`]
      for (const other of [...wrong, '=', signatureOf(body, 'another secret'), signatureOf(body, '')])
        await sentenceOf(await send(body, other), 401, 'unauthorized')
    })

    test('people are answered in their language, in English where it is not offered, and strangers in the event’s', async () => {
      for (const [language, words] of [
        ['zh-TW', '等級'],
        ['zh-CN', '等级'],
        ['en-US', 'My level'],
        ['ja', 'レベル'],
        ['es', 'My level'],
        ['vi', 'My level'],
        [undefined, '等級'],
      ] as const) {
        const event = textEvent(newUser(language), 'level')
        expect(await tell(event)).toEqual({ received: 1 })
        expect(json((await reply(event)).messages)).toContain(words)
      }
    })

    test('the level is the same as in the profile', async () => {
      const userId = newUser('en')
      await checkIn(stack, userId)
      await checkIn(stack, userId, { lat: 24.16 })
      const profile = await dataOf(await stack.fetch(`/api/event/user/${userId}`), profileEndpoint)
      const event = textEvent(userId, 'My LEVEL?')
      await tell(event)
      const said = json((await reply(event)).messages)
      expect(said).toContain(profile.level_name.en)
      expect(said).toContain(`${profile.km} km`)
      expect(said).toContain(`"text":"${profile.checkins}"`)
      expect(said).toContain(
        `${profile.next_level!.km_needed} km and ${profile.next_level!.checkins_needed} check-ins`,
      )
      expect(profile.checkins).toBe(2)
    })

    test('every action is answered by keyword and by button, within LINE’s limits', async () => {
      const userId = newUser('zh-Hant')
      const wishes = {
        checkin: '打卡',
        help: '說明',
        level: '等級',
        carbon: '碳足跡',
        card: '卡片',
        share: '分享',
        survey: '問卷',
        map: '地圖',
        report: '回報',
        data: '我的資料',
        about: '關於',
      }
      // Without a walk there are no figures; another test covers that.
      await checkIn(stack, userId)
      for (const [action, word] of Object.entries(wishes)) {
        const spoken = textEvent(userId, word)
        const pressed = lineEvent(userId, { type: 'postback', postback: { data: `action=${action}` } })
        await tell(spoken, pressed)
        expect(json((await reply(spoken)).messages)).toBe(json((await reply(pressed)).messages))
      }
      const card = textEvent(userId, '我的卡片')
      await tell(card)
      const { messages } = await reply(card)
      expect(messages[0]).toMatchObject({
        type: 'image',
        originalContentUrl: expect.stringMatching(/\/s\/[\w-]{24}\.png\?v=/),
      })
      expect(json(messages)).not.toContain(userId)
    })

    test('a text without a keyword gets the menu', async () => {
      const event = textEvent(newUser('en'), 'lorem ipsum')
      await tell(event)
      const { messages } = await reply(event)
      expect((messages[0]!.quickReply as { items: unknown[] }).items).toHaveLength(11)
    })

    test('in a group the bot answers when it is mentioned', async () => {
      const [userId, stranger] = [newUser('en'), newUser('en')]
      const hello = textEvent(userId, 'hello')
      await tell(hello)
      await reply(hello)
      const group = { source: { type: 'group', groupId: 'C1', userId } }
      const unasked = textEvent(stranger, 'level', { source: { ...group.source, userId: stranger } })
      const mention = { mentionees: [{ index: 0, length: 4, type: 'user', isSelf: true }] }
      const asked = textEvent(userId, '@bot help', {
        ...group,
        message: { type: 'text', id: '1', text: '@bot help', mention },
      })
      expect(await tell(unasked, asked)).toEqual({ received: 1 })
      expect(json((await reply(asked)).messages)).toContain('Check in')
      expect(repliesTo(unasked)).toEqual([])
      // Talking in a group does not make a person a pilgrim.
      expect((await stack.fetch(`/api/event/user/${stranger}`)).status).toBe(404)
    })

    test('a photo counts once, however often it is delivered', async () => {
      const userId = newUser('en')
      expect(await photosOf(userId)).toBe(0)
      const photo = lineEvent(userId, { type: 'message', message: { type: 'image', id: '7' } })
      const deliveries = await Promise.all(Array.from({ length: 8 }, () => tell(photo)))
      // With a busy database a delivery goes to the spool, which cannot know that another one was stored.
      expect(deliveries.reduce((sum, { received }) => sum + received, 0)).toBeWithin(1, 9)
      await reply(photo)
      expect(await photosOf(userId)).toBe(1)
      await tell({ ...photo, deliveryContext: { isRedelivery: true } }, { ...photo })
      const second = lineEvent(userId, { type: 'message', message: { type: 'image', id: '8' } })
      await tell(second)
      expect(json((await reply(second)).messages)).toContain('2 photos')
      expect(await photosOf(userId)).toBe(2)
      expect(repliesTo(photo)).toHaveLength(1)
    })

    const photoEvent = (userId: string, id: string, imageSet?: object) =>
      lineEvent(userId, { type: 'message', message: { type: 'image', id, imageSet } })

    test('photos that are sent together get one answer, with their number where LINE knows it', async () => {
      for (const [total, sentence] of [
        [3, '3 photos'],
        [undefined, 'Got your photos!'],
      ] as const) {
        const userId = newUser('en')
        const set = crypto.randomUUID()
        const photos = ['a', 'b', 'c'].map((id, i) =>
          photoEvent(userId, `${set}-${id}`, { id: set, ...(total && { index: 3 - i, total }) }),
        )
        await Promise.all(photos.map((photo) => tell(photo)))
        await until(async () => (await photosOf(userId)) === 3, 'all photos to count')
        const answers = () => photos.flatMap(repliesTo)
        await until(() => answers().length > 0, 'an answer to the photos')
        // Events are answered in any order; by then another answer would have arrived too.
        const after = textEvent(userId, 'help')
        await tell(after)
        await reply(after)
        expect(answers()).toHaveLength(1)
        expect(json(answers()[0]!.messages)).toContain(sentence)
      }
    })

    test('a photo that is taken back is not counted, also if its event arrives afterwards', async () => {
      const userId = newUser('en')
      const [kept, unsent, late] = ['kept', 'unsent', 'late'].map((name) => `${userId}-${name}`)
      const unsend = (messageId: string) => lineEvent(userId, { type: 'unsend', unsend: { messageId } })
      for (const id of [kept!, unsent!]) {
        const photo = photoEvent(userId, id)
        await tell(photo)
        await reply(photo)
      }
      expect(await photosOf(userId)).toBe(2)
      await tell(unsend(unsent!), unsend(unsent!), unsend(late!))
      await until(async () => (await photosOf(userId)) === 1, 'the photo to be uncounted')
      const photo = photoEvent(userId, late!)
      await tell(photo)
      expect(json((await reply(photo)).messages)).toContain('1 photo so far')
      expect(await photosOf(userId)).toBe(1)
    })

    test('every kind of message is answered: a location with the check-in, others with the menu', async () => {
      const userId = newUser('en')
      for (const [message, sentence] of [
        [{ type: 'location', latitude: 24.1, longitude: 120.6 }, '/walk/'],
        [{ type: 'sticker', packageId: '1', stickerId: '1' }, 'What would you like?'],
        [{ type: 'video' }, 'What would you like?'],
        [{ type: 'audio' }, 'What would you like?'],
        [{ type: 'file', fileName: 'walk.gpx' }, 'What would you like?'],
      ] as const) {
        const event = lineEvent(userId, { type: 'message', message: { ...message, id: '1' } })
        await tell(event)
        expect(json((await reply(event)).messages)).toContain(sentence)
      }
    })

    test('with open identity the bot says that it cannot see the walk of the app, in place of 0 km', async () => {
      const userId = newUser('en')
      for (const wish of ['my level', 'carbon', 'my card']) {
        const event = textEvent(userId, wish)
        await tell(event)
        const said = json((await reply(event)).messages)
        expect(said).toContain('Your walk is recorded in the app, and this chat cannot see it.')
        expect(said).toContain('/walk/')
        expect(said).not.toContain('0 km')
      }
    })

    test('a missing profile is fetched, and a failed fetch deletes nothing', async () => {
      const userId = newUser()
      const nameOf = async () =>
        (await dataOf(await stack.fetch(`/api/event/user/${userId}`), profileEndpoint)).display_name
      await stack.fetch('/api/event/user/sync', {
        method: 'POST',
        body: JSON.stringify({ user_id: userId, display_name: 'Kept' }),
      })
      const first = textEvent(userId, 'help')
      await tell(first)
      await reply(first)
      expect(await nameOf()).toBe('Kept')
      line.profiles.set(userId, { displayName: 'From LINE'.padEnd(250, '.'), language: 'en' })
      const second = textEvent(userId, 'help')
      await tell(second)
      expect(json((await reply(second)).messages)).toContain('Help')
      // The name chosen by the pilgrim stays.
      expect(await nameOf()).toBe('Kept')
      const other = newUser()
      line.profiles.set(other, { displayName: 'From LINE'.padEnd(250, '.'), language: 'en' })
      const third = textEvent(other, 'help')
      await tell(third)
      expect(json((await reply(third)).messages)).toContain('Help')
      const { display_name } = await dataOf(await stack.fetch(`/api/event/user/${other}`), profileEndpoint)
      expect(display_name).toBe('From LINE'.padEnd(200, '.'))
    })

    test('a follow is welcomed; one with a time out of range is rejected', async () => {
      const at = (timestamp: number) => lineEvent(newUser('ja'), { type: 'follow', timestamp })
      const [last, beyond] = [at(253_402_300_799_999), at(253_402_300_800_000)]
      expect(await tell(last, beyond)).toEqual({ received: 1 })
      expect(json((await reply(last)).messages)).toContain('ようこそ')
    })

    test('the webhook answers in time while LINE itself hangs', async () => {
      line.mishap = () => 'hung'
      try {
        const started = performance.now()
        await tell(textEvent(newUser(), 'help'), lineEvent(newUser(), { type: 'follow' }))
        // LINE ignores a later answer.
        expect(performance.now() - started).toBeLessThan(2_000)
      } finally {
        line.mishap = () => 'none'
      }
    })

    test('a failed answer is retried and delivered once', async () => {
      const event = textEvent(newUser('en'), 'about')
      const mishaps: Mishap[] = ['before', 'after']
      line.mishap = (_path, body) =>
        body.includes(event.replyToken as string) ? (mishaps.shift() ?? 'none') : 'none'
      try {
        await tell(event)
        const tries = () => line.calls.filter(({ status }) => status === 400).length
        const before = tries()
        // The second attempt took effect, so the third is rejected, and nothing more is sent.
        await until(() => mishaps.length === 0 && tries() > before, 'the repetition', { timeoutMs: 50_000 })
        expect(repliesTo(event)).toHaveLength(1)
      } finally {
        line.mishap = () => 'none'
      }
    })
  },
  (kind) => ({ ...lineSettings(lines[kind]), EVENT_LIMIT_USER_WRITE: '1000' }),
)

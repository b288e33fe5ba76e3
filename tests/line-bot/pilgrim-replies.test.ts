/** The bot's answers that depend on the sender: the card's URL, their own link, the survey, and groups. */
import { afterAll, expect, test } from 'bun:test'
import { webhookEndpoint } from '#shared/contracts/bot.ts'
import { revokeSharesOfUserEndpoint } from '#shared/contracts/user-history.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { lineSettings, lineUser, startLineServer } from '#tests/helpers/line-server.ts'
import { deliver, textEvent } from '#tests/helpers/line-webhook.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { setEvent } from '#tests/helpers/set-event.ts'
import { callAs, checkIn } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'

const line = startLineServer()
afterAll(() => line.stop())

describeBothStacks(
  'the bot and who asks',
  (stack) => {
    let person = 0xc4d0
    const answerTo = async (userId: string, wish: string, fields: object = {}) => {
      const event = textEvent(userId, wish, fields)
      await dataOf(await deliver(stack, [event]), webhookEndpoint)
      const sent = () => line.sent.find(({ kind, to }) => kind === 'reply' && to[0] === event.replyToken)
      return (await until(sent, 'an answer of the bot')).messages[0]!
    }

    test('a changed card has a new address and shows the current figures', async () => {
      const userId = lineUser(++person)
      line.profiles.set(userId, { displayName: 'Anna', language: 'en' })
      const address = async () => (await answerTo(userId, 'my card')).originalContentUrl as string
      const picture = (url: string) =>
        until(
          async () => {
            const { headers } = await stack.fetch(url.slice(new URL(url).origin.length))
            return headers.get('cache-control') === 'private, no-cache' && headers.get('etag')
          },
          'the card of this moment',
          { timeoutMs: 45_000 },
        )
      // There is no card without a walk.
      await checkIn(stack, userId)
      const addresses = [await address()]
      expect(await address()).toBe(addresses[0]!)
      await checkIn(stack, userId, { lat: 24.16 })
      addresses.push(await address())
      const before = await picture(addresses[1]!)
      const sync = (fields: object) =>
        stack.fetch('/api/event/user/sync', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ user_id: userId, ...fields }),
        })
      await sync({ display_name: '林美玉' })
      addresses.push(await address())
      expect(await picture(addresses[2]!)).not.toBe(before)
      await sync({ transport: { bus: 40 } })
      addresses.push(await address())
      expect(new Set(addresses).size).toBe(addresses.length)
    })

    test('only an answer that shows the own link makes one', async () => {
      const userId = lineUser(++person)
      line.profiles.set(userId, { displayName: 'Anna', language: 'en' })
      const end = () => callAs(stack, 'manager', 'DELETE', `admin/users/${userId}/shares`)
      for (const wish of ['help', 'level', 'survey', 'about']) await answerTo(userId, wish)
      expect(await sentenceOf(await end(), 404, 'not-found')).toContain('no links')
      expect(JSON.stringify(await answerTo(userId, 'share'))).toContain('%2Fs%2F')
      expect(await dataOf(await end(), revokeSharesOfUserEndpoint)).toEqual({ revoked: 1 })
      // A withdrawn pilgrim has no link: the answer has the figures, and no picture.
      const path = `admin/users/${userId}/status`
      expect((await callAs(stack, 'manager', 'PUT', path, { status: 'withdrawn' })).status).toBe(200)
      expect(await answerTo(userId, 'my card')).not.toMatchObject({ type: 'image' })
    })

    test('the survey is asked for until it is answered', async () => {
      const userId = lineUser(++person)
      line.profiles.set(userId, { displayName: 'Anna', language: 'en' })
      const asks = async () => JSON.stringify(await answerTo(userId, 'survey'))
      expect(await asks()).toContain('Please take three minutes')
      const headers = { 'Content-Type': 'application/json' }
      const body = JSON.stringify({ user_id: userId, q1: 'yes' })
      expect((await stack.fetch('/api/event/survey', { method: 'POST', headers, body })).status).toBe(200)
      expect(await asks()).toContain('You have answered the survey')
    })

    test('words of distress are answered with the numbers to call', async () => {
      await setEvent(stack, 'contact', { organiser_phone: '04-2662 1234' })
      const answerIn = async (language: string, words: string) => {
        const userId = lineUser(++person)
        line.profiles.set(userId, { displayName: 'Anna', language })
        return JSON.stringify(await answerTo(userId, words))
      }
      await until(
        async () => (await answerIn('en', 'Help me, I am lost')).includes('04-2662'),
        'the bot to follow',
      )
      for (const [language, words, sentence] of [
        ['zh-TW', '我受傷了', '緊急狀況請撥 119'],
        ['zh-CN', '迷路了怎么办', '紧急状况请拨 119'],
        ['en', 'Help me, I am lost', 'In an emergency, call 119'],
        ['ja', '助けて', '緊急時は 119 に電話'],
      ] as const) {
        const answer = await answerIn(language, words)
        for (const part of [sentence, '"tel:119"', '"tel:0426621234"', '04-2662 1234'])
          expect([language, answer]).toEqual([language, expect.stringContaining(part)])
      }
    })

    test('what another module of the account answers, or what is older than a minute, is not answered', async () => {
      const userId = lineUser(++person)
      line.profiles.set(userId, { displayName: 'Anna', language: 'en' })
      const standby = textEvent(userId, 'help', { mode: 'standby' })
      const old = textEvent(userId, 'help', { timestamp: Date.now() - 61_000 })
      await dataOf(await deliver(stack, [standby, old]), webhookEndpoint)
      await answerTo(userId, 'help')
      const tokens = [standby.replyToken, old.replyToken]
      expect(line.sent.filter(({ to }) => tokens.includes(to[0]))).toEqual([])
    })

    test('in a group, somebody whom LINE does not name is answered; words of a mention are none of theirs', async () => {
      const answer = async (wish: string) => {
        const mentionees = [
          { index: 0, length: 5, type: 'user', isSelf: true },
          { index: wish.length + 7, length: 6, type: 'user', isSelf: false },
        ]
        const said = { type: 'text', id: '1', text: `@card ${wish} @level`, mention: { mentionees } }
        const fields = { source: { type: 'group', groupId: 'C1' }, message: said }
        return JSON.stringify(await answerTo('', wish, fields))
      }
      expect(await answer('survey')).toContain('請花三分鐘填寫問卷')
      expect(await answer('about')).toContain('記錄每一位香客走過的路')
      expect(await answer('share')).toContain('line.me/R/share')
      expect(await answer('carbon')).toContain('請加我為好友')
    })
  },
  { ...lineSettings(line), EVENT_LIMIT_USER_WRITE: '1000' },
)

/** Follows every link that the bot sends, and reads the page behind it. */
import { afterAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { BotAction, Language } from '#shared/contracts/bot.ts'
import { homeEndpoint } from '#shared/contracts/home.ts'
import { HOME_WORDS } from '#services/admin/home/home-locales.ts'
import { designMenu } from '#services/line-bot/rich-menu/design.ts'
import { checkIn, setStatus } from '#tests/helpers/test-stack.ts'
import { lineSettings, lineUser, type Sent, startLineServer } from '#tests/helpers/line-server.ts'
import { deliver, lineEvent } from '#tests/helpers/line-webhook.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { until } from '#tests/helpers/wait.ts'

const line = startLineServer()
afterAll(() => line.stop())

const OURS = 'https://walk.test'
const ADDRESS = /https?:\/\/[^\s"\\<>]+/g

/** Addresses in the bot's messages, those inside a shared text included. */
function linksIn(value: unknown): string[] {
  const found = JSON.stringify(value).match(ADDRESS) ?? []
  return found.flatMap((link) => {
    const text = URL.canParse(link) ? new URL(link).searchParams.get('text') : null
    return [link, ...(text?.match(ADDRESS) ?? [])]
  })
}

describeBothStacks(
  'links',
  (stack) => {
    const page = (path: string, headers: Record<string, string> = {}) =>
      stack.fetch(path, { headers, redirect: 'manual' })

    test('each link of the bot, its share text and its menu leads to a page or a picture', async () => {
      const links = new Set<string>(
        Language.options.flatMap((language) => linksIn(designMenu(language).request)),
      )
      let person = 0xb000
      for (const language of Language.options) {
        const userId = lineUser(++person + (stack.kind === 'real' ? 100 : 0))
        line.profiles.set(userId, { displayName: `P${person}`, language })
        await checkIn(stack, userId)
        const events = [
          lineEvent(userId, { type: 'follow' }),
          lineEvent(userId, { type: 'message', message: { type: 'text', id: '1', text: '???' } }),
          ...BotAction.options.map((action) =>
            lineEvent(userId, { type: 'postback', postback: { data: `action=${action}` } }),
          ),
        ]
        await deliver(stack, events)
        const replies = () => {
          const tokens = new Set(events.map(({ replyToken }) => replyToken))
          return line.sent.filter(({ kind, to }: Sent) => kind === 'reply' && tokens.has(to[0]))
        }
        await until(() => replies().length === events.length, { timeoutMs: 30_000, what: 'every answer' })
        for (const { messages } of replies()) for (const link of linksIn(messages)) links.add(link)
      }
      const ours = [...links].filter((link) => link.startsWith(OURS))
      expect(ours.length).toBeGreaterThanOrEqual(1 + Language.options.length)
      for (const link of links)
        if (!link.startsWith(OURS)) expect(link).toStartWith('https://line.me/R/share?text=')
      for (const link of ours) {
        const answer = await page(link.slice(OURS.length) || '/')
        const type = answer.headers.get('content-type')
        expect({ link, status: answer.status, shown: /^(text\/html|image\/png)/.test(type ?? '') }).toEqual({
          link,
          status: 200,
          shown: true,
        })
      }
    })

    test('the page names the event in the reader’s language and loads nothing from other sites', async () => {
      for (const [asked, language] of [
        ['zh-TW,zh;q=0.9,en;q=0.8', 'zh-Hant'],
        ['zh-CN', 'zh-Hans'],
        ['en-GB;q=0.5, ja;q=0.9', 'ja'],
        ['fr-FR, en;q=0.1', 'en'],
        ['th', 'zh-Hant'],
        ['*;q=x,;;=', 'zh-Hant'],
      ] as const) {
        const answer = await page('/?liff.state=%2F&lang=', { 'Accept-Language': asked })
        expect([asked, answer.status, answer.headers.get('content-language')]).toEqual([asked, 200, language])
        const html = await answer.text()
        expect(html).toContain(`<html lang="${language}">`)
        expect(html).toContain('The &lt;Long&gt; &amp; &quot;Winding&quot; Walk')
        expect(html).toContain(HOME_WORDS[language].standing.active)
        // It has links to itself only, no scripts, and a policy that allows its single style.
        expect([...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, to]) => to)).toEqual(
          Language.options.map((one) => `/?lang=${one}`),
        )
        expect(html).not.toMatch(/<script|\son\w+=|\sstyle=|url\(|@import/i)
        const style = /<style>([^]*?)<\/style>/.exec(html)![1]!
        const hash = createHash('sha256').update(style).digest('base64')
        expect(answer.headers.get('content-security-policy')).toBe(
          `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
        )
        expect(style).toContain('prefers-color-scheme:dark')
      }
      for (const language of Language.options) {
        const answer = await page(`/?lang=${language}`, { 'Accept-Language': 'fr' })
        expect([answer.status, answer.headers.get('content-language')]).toEqual([200, language])
      }
      expect((await stack.fetch(homeEndpoint.path, { method: 'HEAD' })).status).toBe(200)
    })

    test('the page shows that the event is paused, and the operators’ message as text', async () => {
      await setStatus(stack, { status: 'paused', message: 'Typhoon <b>near</b>\nStay inside' })
      const html = await (await page('/?lang=en')).text()
      expect(html).toContain('Paused')
      expect(html).toContain('Typhoon &lt;b&gt;near&lt;/b&gt;\nStay inside')
      await setStatus(stack, { status: 'active' })
      expect(await (await page('/?lang=en')).text()).not.toContain('Typhoon')
    })
  },
  {
    ...lineSettings(line),
    EVENT_NAME: 'The <Long> & "Winding" Walk',
    EVENT_PUBLIC_URL: OURS,
  },
)

/** Follows every link that the bot sends, and checks the page behind it. */
import { afterAll, expect, test } from 'bun:test'
import { BotAction, BuiltInLanguage } from '#shared/contracts/bot.ts'
import { policyOf } from '#proxy/pages/pages.ts'
import { designMenu } from '#services/line-bot/bot/rich-menu.ts'
import { serviceWords } from '#shared/locales/by-language.ts'
import { checkIn } from '#tests/helpers/test-stack.ts'
import { lineSettings, lineUser, type Sent, startLineServer } from '#tests/helpers/line-server.ts'
import { deliver, lineEvent } from '#tests/helpers/line-webhook.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { until } from '#tests/helpers/wait.ts'

const line = startLineServer()
afterAll(() => line.stop())

const OURS = 'https://walk.test'
const ADDRESS = /https?:\/\/[^\s"\\<>]+/g

/** URLs in the bot's messages, including those in a shared text. */
function linksIn(value: unknown): string[] {
  const found = JSON.stringify(value).match(ADDRESS) ?? []
  return found.flatMap((link) => {
    const text = URL.canParse(link) ? new URL(link).searchParams.get('text') : null
    return [link, ...(text?.match(ADDRESS) ?? [])]
  })
}

const EVENT = {
  language: 'zh-Hant',
  languages: BuiltInLanguage.options,
  wordsFor: serviceWords({}),
}

describeBothStacks(
  'links',
  (stack) => {
    const page = (path: string, headers: Record<string, string> = {}) =>
      stack.fetch(path, { headers, redirect: 'manual' })

    test('each link of the bot, its share text and its menu leads to a page or a picture', async () => {
      const links = new Set<string>(
        BuiltInLanguage.options.flatMap((language) => linksIn(designMenu(language, EVENT).request)),
      )
      let person = 0xb000
      for (const language of BuiltInLanguage.options) {
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
        await until(() => replies().length === events.length, 'every answer', { timeoutMs: 30_000 })
        for (const { messages } of replies()) for (const link of linksIn(messages)) links.add(link)
      }
      const ours = [...links].filter((link) => link.startsWith(OURS))
      expect(ours.length).toBeGreaterThanOrEqual(1 + BuiltInLanguage.options.length)
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

    test('the page behind a link names the event, for people and for previews, and loads nothing from other sites', async () => {
      for (const query of [
        '',
        '?liff.state=%2F&lang=',
        ...BuiltInLanguage.options.map((one) => `?lang=${one}`),
      ]) {
        const answer = await page(`/${query}`, { 'Accept-Language': 'fr' })
        expect([query, answer.status]).toEqual([query, 200])
        const html = await answer.text()
        const name = 'The &lt;Long&gt; &amp; &quot;Winding&quot; Walk'
        expect(html).toContain(`<title>${name}</title>`)
        expect(html).toContain(`<meta property="og:title" content="${name}">`)
        const addresses = [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, to]) => to)
        expect(addresses.filter((to) => !to!.startsWith('/'))).toEqual([])
        // A script has a URL, or is data.
        expect(html).not.toMatch(
          /<script(?! type="(module" src="|application\/json"))|<style|\son\w+=|\sstyle=|@import/i,
        )
        expect(answer.headers.get('content-security-policy')).toBe(policyOf('/'))
      }
      expect((await stack.fetch('/', { method: 'HEAD' })).status).toBe(200)
    })
  },
  {
    ...lineSettings(line),
    EVENT_NAME: 'The <Long> & "Winding" Walk',
    EVENT_PUBLIC_URL: OURS,
  },
)

/** A phone in a language that is not offered: every page is in English, never in the event's Chinese. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createShareEndpoint } from '#shared/contracts/shares.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { openTestStack, STACK_TIMEOUT_MS } from '#tests/helpers/open-test-stack.ts'
import { post } from '#tests/helpers/pilgrim.ts'
import { newAppId, type TestStack } from '#tests/helpers/test-stack.ts'
import { photograph, testBrowser } from './browser.ts'

const browser = testBrowser()
let stack: TestStack
let links: { readonly live: string; readonly card: string }

beforeAll(async () => {
  stack = await openTestStack({ EVENT_NAME: 'Walk', EVENT_MAP_CROWD: '1' })
  const userId = newAppId()
  await post(stack, 'user/sync', { user_id: userId, display_name: 'Mei', language: 'zh-TW' })
  const share = async (fields: object) =>
    (await dataOf(await post(stack, 'shares', { user_id: userId, ...fields }), createShareEndpoint)).id
  links = { live: await share({ live_hours: 8 }), card: await share({}) }
}, 2 * STACK_TIMEOUT_MS)
afterAll(() => stack?.close())

/** Visible text in Chinese or Japanese, without the names of the languages in the language menu. */
const chineseIn = (): string[] => {
  const names = 'option, nav[class="row"] a[hreflang], button[lang]'
  const texts: string[] = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
    if (/[\p{Script=Han}\p{Script=Hiragana}]/u.test(node.textContent!)) {
      const parent = node.parentElement!
      if (parent.closest(`${names}, label, script, noscript`) === null) texts.push(node.textContent!)
    }
  return [document.title, ...texts].filter((text) => /\p{Script=Han}/u.test(text))
}

const PAGES: readonly (readonly [name: string, path: () => string, shown: string])[] = [
  ['map', () => '/', 'Nobody is on the map yet.'],
  ['app', () => '/walk/', 'What you agree to'],
  ['console', () => '/admin/', 'Operators’ console'],
  ['not-found', () => '/nothing-here', 'There is no page at this address.'],
  ['live-link', () => `/s/${links.live}`, 'Walk'],
  ['card-link', () => `/s/${links.card}`, 'This link shows the card alone.'],
  ['ended-link', () => `/s/${'x'.repeat(24)}`, 'This link shows nothing'],
]

for (const locale of ['es-ES', 'de-DE', 'ko-KR'])
  for (const [name, path, shown] of PAGES)
    test(`${name} for a phone in ${locale}`, async () => {
      await using opened = await browser.open(stack, { path: path(), locale, expected: /404|410|favicon/ })
      const { page } = opened
      await page.getByText(shown).first().waitFor()
      expect(await page.evaluate(() => document.documentElement.lang)).toBe('en')
      expect(await page.evaluate(chineseIn)).toEqual([])
      if (locale === 'es-ES') await photograph(page, `spanish-phone-${name}`, true)
    })

test('the card of a Spanish newcomer is in English, and a Chinese one keeps its own', async () => {
  const cardOf = async (language: string) => {
    const userId = newAppId()
    await post(stack, 'user/sync', { user_id: userId, language })
    const answer = await stack.fetch(`/api/event/og/${userId}.png`)
    return Bun.hash(await answer.arrayBuffer())
  }
  const [spanish, german, chinese, english] = [
    await cardOf('es-ES'),
    await cardOf('de'),
    await cardOf('zh-TW'),
    await cardOf('en'),
  ]
  expect(new Set([spanish, german, chinese, english]).size).toBe(4)
})

test('a program that names no language gets the page of a link in the pilgrim’s language', async () => {
  const answer = await stack.fetch(`/s/${links.card}`, { headers: { 'Accept-Language': '*' } })
  expect(answer.headers.get('Content-Language')).toBe('zh-Hant')
  const ended = await stack.fetch(`/s/${'x'.repeat(24)}`)
  expect(ended.headers.get('Content-Language')).toBe('zh-Hant')
})

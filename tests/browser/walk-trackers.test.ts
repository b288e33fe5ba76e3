/**
 * The set-up of tracker apps: why OwnTracks rejects the link at first, and why an app's positions are not
 * accepted.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openEmbeddedTestStack, STACK_TIMEOUT_MS } from '#tests/helpers/open-test-stack.ts'
import type { TestStack } from '#tests/helpers/test-stack.ts'
import { walk } from '#tests/helpers/trackers.ts'
import {
  gpsLogger,
  osmAnd,
  overland,
  ownTracksIos,
  type Sent,
  traccar10,
} from '#tests/tracking/tracker-bodies.ts'
import type { TrackerApp } from '#shared/contracts/trackers.ts'
import { BROWSER_TIMEOUT_MS, photograph, testBrowser } from './browser.ts'
import { firstMinute } from './walk-harness.ts'

const browser = testBrowser()
let stack: TestStack
beforeAll(async () => {
  stack = await openEmbeddedTestStack()
}, STACK_TIMEOUT_MS + BROWSER_TIMEOUT_MS)
afterAll(() => stack?.close())

/** The sentence that OwnTracks rejects the link until then, by language. */
const REFUSES = {
  'zh-Hant': '不然 App 會拒絕連結',
  'zh-Hans': '不然 App 会拒绝链接',
  ja: 'リンクを受け付けません',
}

test('OwnTracks: first the switch, then the link, the address to type, and its troubles', async () => {
  await using opened = await browser.open(stack, { path: '/walk/?lang=en' })
  const { page } = opened
  await firstMinute(page, 'Ana')
  await page.evaluate(() => (location.hash = 'trackers'))
  await page.getByRole('combobox').selectOption('owntracks')
  await page.getByRole('button', { name: 'Set it up for me' }).click()
  const switchText = page.getByText('Allow external configuration')
  await switchText.waitFor()
  const link = page.getByRole('link', { name: 'Set up the app' })
  const [above, below] = await Promise.all([switchText.boundingBox(), link.boundingBox()])
  expect(above!.y).toBeLessThan(below!.y)
  const address = await page.locator('code.address').innerText()
  expect(address).toEndWith('/owntracks')
  const path = new URL(address).pathname
  const report = async (body: object, sentence: string) => {
    expect((await stack.fetch(path, { method: 'POST', body: JSON.stringify(body) })).status).toBe(200)
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await page.getByText(sentence).waitFor()
  }
  await report({ _type: 'location', breite: 24 }, 'sent something without a position')
  const seconds = Math.floor(Date.now() / 1_000)
  await report({ _type: 'location', lat: 24.1, lon: 120.6, tst: seconds + 7_200 }, 'clock is ahead')
  await photograph(page, 'walk-trackers-owntracks', true)
  for (const [language, sentence] of Object.entries(REFUSES)) {
    const { origin } = new URL(page.url())
    await page.goto(`${origin}/walk/?lang=${language}#trackers`)
    await page.getByRole('combobox').selectOption('owntracks')
    await page.locator('.steps button.primary').click()
    await page.getByText(sentence).waitFor()
  }
})

/** The address that each app takes from the link, or that is typed into it. */
const ADDRESS_IN: Record<TrackerApp, (shown: string) => string> = {
  owntracks: (link) => {
    const inline = Buffer.from(new URL(link).searchParams.get('inline')!, 'base64')
    return (JSON.parse(inline.toString()) as { url: string }).url
  },
  overland: (link) => new URL(link).searchParams.get('url')!,
  traccar: (link) => new URL(link).searchParams.get('url')!,
  osmand: (address) => address.split('?', 1)[0]!,
  gpslogger: (link) => /^gpslogger:\/\/properties\/(.*)\.properties$/.exec(link)![1]!,
}
const SENT: Record<TrackerApp, (fix: ReturnType<typeof walk>[number]) => Sent> = {
  owntracks: ownTracksIos,
  overland,
  traccar: traccar10,
  osmand: osmAnd,
  gpslogger: gpsLogger,
}

test.each(Object.keys(SENT) as TrackerApp[])(
  '%s, set up by what its view shows, is heard, and the view fits a phone',
  async (app) => {
    await using opened = await browser.open(stack, { path: '/walk/?lang=en' })
    const { page } = opened
    await firstMinute(page, 'Ana')
    await page.evaluate(() => (location.hash = 'trackers'))
    await page.getByRole('combobox').selectOption(app)
    await page.getByRole('button', { name: 'Set it up for me' }).click()
    const link = page.getByRole('link', { name: 'Set up the app' })
    const typed = page.locator('code.address')
    await link.or(typed).first().waitFor()
    const shown = app === 'osmand' ? await typed.innerText() : (await link.getAttribute('href'))!
    const [fix] = walk(1)
    const { method, query, type, body } = SENT[app](fix!)
    const path = new URL(ADDRESS_IN[app](shown)).pathname + (query === undefined ? '' : `?${query}`)
    const answer = await stack.fetch(path, {
      method,
      ...(type !== undefined && { headers: { 'Content-Type': type } }),
      ...(body !== undefined && { body }),
    })
    expect(answer.status).toBe(200)
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await page.locator('p.good').waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
    await photograph(page, `walk-trackers-${app}-set-up`, true)
  },
)

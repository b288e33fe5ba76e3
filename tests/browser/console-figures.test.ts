/**
 * Figures of the console that could mislead: a part that looks like the whole, a failure in green, a name
 * used as an id.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openEmbeddedTestStack, STACK_TIMEOUT_MS } from '#tests/helpers/open-test-stack.ts'
import { post } from '#tests/helpers/pilgrim.ts'
import { checkIn, flushed, newAppId, type TestStack } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { BROWSER_TIMEOUT_MS, type Page, photograph } from './browser.ts'
import { consoleBrowser } from './console-harness.ts'

const browser = consoleBrowser()
let stack: TestStack
beforeAll(async () => {
  stack = await openEmbeddedTestStack()
}, STACK_TIMEOUT_MS + BROWSER_TIMEOUT_MS)
afterAll(() => stack?.close())

/** Modifies the data of responses on their way to the page. */
const alter = (page: Page, path: string, change: (data: Record<string, unknown>) => object) =>
  page.route(path, async (route) => {
    const answer = await route.fetch()
    const { data, ...rest } = (await answer.json()) as { data: Record<string, unknown> }
    await route.fulfill({ response: answer, json: { ...rest, data: { ...data, ...change(data) } } })
  })

test('a page of a longer list says that it is the first, and a pilgrim has their name while they load', async () => {
  const named = newAppId()
  await post(stack, 'user/sync', { user_id: named, display_name: 'Lin Mei' })
  await Promise.all(Array.from({ length: 60 }, () => checkIn(stack, newAppId())))
  await checkIn(stack, named)
  await flushed(stack)
  await using opened = await browser.console(stack, { view: 'people' })
  const { page } = opened
  const list = page.locator('.people-list')
  await list.getByText('first 50').first().waitFor()
  await list.locator('input').first().fill('Lin Mei')
  const held = Promise.withResolvers<void>()
  await page.route(`**/admin/users/**`, async (route) => {
    await held.promise
    await route.continue()
  })
  await list.getByRole('button', { name: 'Lin Mei' }).click()
  expect(await page.locator('.person h2').innerText()).toBe('Lin Mei')
  held.resolve()
})

test('the highest value of a chart is told with its time above it, and nothing covers the chart', async () => {
  // Like the service, in ten-second steps of the clock.
  const since = Math.floor((Date.now() - 1_500_000) / 10_000) * 10_000
  await using opened = await browser.console(stack, {
    before: (page) =>
      alter(page, '**/admin/last-hour*', () => ({
        received: {
          since: new Date(since).toISOString(),
          through: new Date(since + 1_200_000).toISOString(),
          points: 0,
          checkins: 0,
          steps: Array.from({ length: 120 }, (_, i) => (i === 30 ? [5_000, 400] : [5, 2])),
        },
      })).then(() => undefined),
  })
  const { page } = opened
  await page.locator('.rate figcaption', { hasText: /most 5,025 \(\d\d:\d\d\)/ }).waitFor()
  expect(await page.locator('.rate .tip').count()).toBe(0)
  await photograph(page, 'console-burst')
})

test('a summary that did not reach everybody is no success', async () => {
  const ending = { flush: 'done', cards: { done: 3, total: 3 }, summary: 'sent' }
  const web_push = { sent: 0, waiting: 0, failed: 0 }
  await using opened = await browser.console(stack, {
    view: 'lifecycle',
    expected: /ERR_FAILED/,
    async before(page) {
      await page.route('**/admin/stream*', (route) => route.abort())
      await alter(page, '**/admin/status*', () => ({ status: 'ended', ending }))
      await alter(page, '**/api/event/push?*', () => ({
        items: [
          {
            id: crypto.randomUUID(),
            cause: 'summary',
            text: null,
            state: 'sent',
            recipients: 134,
            sent: 130,
            failed: 4,
            web_push,
          },
        ],
        next_cursor: null,
      }))
    },
  })
  const panel = opened.page.locator('.end-progress')
  await panel.getByText('4 failed').waitFor()
  expect(await panel.locator('.progress.failed').count()).toBe(1)
  expect(await panel.locator('.progress.complete').count()).toBe(2)
  await photograph(opened.page, 'console-summary-failed')
})

test('a report loses hours of a long time or the lowest answers of a scale, or draws nothing for one hour', async () => {
  const beganMs = Date.parse('2026-01-01T00:00:00Z')
  const hour = (after: number, points: number) => ({
    hour: new Date(beganMs + after * 3_600_000).toISOString(),
    points,
    checkins: 0,
    pilgrims: 1,
    km: points,
    carbon_kg: 0,
  })
  let hours = [hour(0, 5), hour(2_999, 7), hour(3_001, 11)]
  await using opened = await browser.console(stack, {
    view: 'reports',
    async before(page) {
      await alter(page, '**/admin/timeline*', () => ({ hours, days: [], entries: [] }))
      await alter(page, '**/admin/surveys*', () => ({
        items: [],
        next_cursor: null,
        total: 55,
        questions: { q1: { ask: { en: 'How was it?' }, kind: 'number', choices: [] } },
        responses: { q1: 55 },
        counts: { q1: Object.fromEntries(Array.from({ length: 13 }, (_, i) => [i, i + 1])) },
      }))
    },
  })
  const { page } = opened
  const survey = page.locator('.questions section', { hasText: 'How was it?' })
  await survey.getByText('+2 more').waitFor()
  expect(await survey.locator('.bars li').count()).toBe(11)
  await photograph(page, 'console-scale')
  const numbers = page.locator('.timeline details', { hasText: 'Points' })
  await numbers.locator('summary').click()
  expect(await numbers.locator('tbody tr').count()).toBe(3)
  hours = [hour(0, 5)]
  await page.reload()
  await page.locator('.time-chart canvas').waitFor()
  await photograph(page, 'console-one-hour')
  const isDrawn = () =>
    page.locator('.time-chart canvas').evaluate((canvas: HTMLCanvasElement) => {
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height)
      // Green is the colour of values alone.
      return data.some((green, i) => i % 4 === 1 && green > data[i - 1]! + 40 && data[i + 2]! > 200)
    })
  await until(isDrawn, 'the only hour to be drawn')
})

test('a token of unknown use is called never used', async () => {
  await using opened = await browser.console(stack, {
    view: 'system',
    async before(page) {
      await alter(page, '**/admin/tokens', ({ items }) => ({
        items: (items as object[]).map((token) => ({ ...token, last_used: null })),
      }))
    },
  })
  const { page } = opened
  const tokens = page.locator('.tokens')
  await tokens.getByText('unknown').first().waitFor()
  expect(await tokens.getByText('never used').count()).toBe(0)
  await tokens.scrollIntoViewIfNeeded()
  await photograph(page, 'console-tokens-unknown')
})

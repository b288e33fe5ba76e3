/** What the photographs show within the views, and the states of the page that a healthy service does not show. */
import type { Page, Route } from 'playwright-core'
import { openView, type View } from './console-tour.ts'

/** Charts and maps are drawn after their data has come. */
export const SETTLE_MS = 1_200

type Detail = readonly [name: string, open: (page: Page) => Promise<unknown>]

const segment = (page: Page, index: number) => page.locator('.person .segments button').nth(index).click()

/** What is opened within a view, one after the other. */
export const DETAILS: Partial<Readonly<Record<View, readonly Detail[]>>> = {
  now: [['palette', (page) => page.keyboard.press('Control+k')]],
  people: [
    [
      'figures',
      async (page) => {
        await page.locator('.name-button').nth(1).click()
        await page.locator('.person .level-line').waitFor()
      },
    ],
    [
      'points',
      async (page) => {
        await segment(page, 1)
        await page.locator('.point-time').first().waitFor()
        // Soon after midnight the latest day has next to nothing.
        const days = page.locator('.person .panel select')
        if ((await days.locator('option').count()) > 1) await days.selectOption({ index: 1 })
        await page.waitForTimeout(SETTLE_MS)
        await page.locator('.point-time').last().click()
      },
    ],
    ['messages', (page) => segment(page, 2)],
    ['about', (page) => segment(page, 3)],
    ['erase', (page) => page.locator('.person-actions .button.danger').first().click()],
  ],
  reports: [
    [
      'brushed',
      async (page) => {
        const box = (await page.locator('.time-chart .u-over').boundingBox())!
        await page.mouse.move(box.x + box.width * 0.7, box.y + box.height / 2)
        await page.mouse.down()
        await page.mouse.move(box.x + box.width * 0.99, box.y + box.height / 2, { steps: 4 })
        await page.mouse.up()
      },
    ],
    [
      'slider',
      async (page) => {
        const slider = page.locator('.procession-over-time input[type="range"]')
        await slider.scrollIntoViewIfNeeded()
        for (let hour = 0; hour < 4; hour++) await slider.press('ArrowLeft')
      },
    ],
  ],
  feedback: [['item', (page) => page.locator('.feedback-card').first().click()]],
  messages: [
    [
      'counted',
      async (page) => {
        await page.locator('.compose textarea').fill('07:00 從通霄出發。雨勢轉大，請穿雨衣，慢慢走。')
        await page.locator('.compose .button.primary').first().click()
        await page.locator('output.count').waitFor()
      },
    ],
  ],
  lifecycle: [
    ['pause', (page) => page.locator('.panel.pause .button.primary').first().click()],
    [
      'end',
      async (page) => {
        await page.locator('.end-event .button').first().click()
        await page.locator('.steps li').first().waitFor()
      },
    ],
  ],
}

/** Dialogs, which would lie over what comes next. */
export const CLOSED: ReadonlySet<string> = new Set(['palette', 'erase', 'counted', 'pause', 'end'])

/** Lets a request through and alters the data of its answer. */
const altered = (change: (data: Record<string, unknown>) => object) => async (route: Route) => {
  const response = await route.fetch()
  const { data, ...rest } = (await response.json()) as { data: Record<string, unknown> }
  await route.fulfill({ response, json: { ...rest, data: { ...data, ...change(data) } } })
}

const sentence = (zhHant: string, en: string) => ({ 'zh-Hant': zhHant, en })

const INCIDENT = {
  incident: { opened_at: new Date(Date.now() - 9 * 60_000).toISOString(), alerts: 2 },
  causes: [
    {
      key: 'flush',
      failure: true,
      text: sentence('已有 34 分鐘沒有完成寫入', 'No flush has been completed for 34 minutes'),
      what_to_do: sentence(
        '看資料庫是否有回應，再按「立即寫入」。位置都還在緩衝區裡。',
        'See whether the database answers, then press "Flush now". All points are still in the buffer.',
      ),
    },
    {
      key: 'quota',
      failure: false,
      text: sentence('LINE 額度已用掉 94 %', '94 % of LINE’s messages are used'),
      what_to_do: sentence(
        '少發全體訊息，或向 LINE 加購。',
        'Write to everybody less often, or buy more from LINE.',
      ),
    },
  ],
}

const ENDED = {
  status: 'ended',
  message: null,
  ending: { flush: 'done', cards: { done: 31_248, total: 50_000 }, summary: 'waiting' },
}

/** Opens a view anew, signed in as before. */
async function openAnew(page: Page, view: View): Promise<void> {
  await page.reload()
  await page.locator('.console').waitFor()
  await openView(page, view)
}

/** Each is opened after the one before was taken back. */
export const STATES: readonly Detail[] = [
  [
    'incident',
    async (page) => {
      await page.route(
        '**/admin/condition*',
        altered(() => INCIDENT),
      )
      await openAnew(page, 'now')
      await page.locator('.cause').first().waitFor()
    },
  ],
  [
    'lost',
    async (page) => {
      await openAnew(page, 'now')
      await page.context().setOffline(true)
      await page.locator('.bar-across.lost').waitFor()
    },
  ],
  [
    'waits',
    async (page) => {
      await openAnew(page, 'now')
      await page.route('**/admin/users*', (route) =>
        route.fulfill({
          status: 429,
          headers: { 'Retry-After': '42' },
          json: { ok: false, error: { code: 'RATE_LIMITED', message: 'Too many calls.' } },
        }),
      )
      await page.locator('.navigation a[href="#/people"]').click()
      await page.locator('.bar-across.waits').waitFor()
    },
  ],
  [
    'ending',
    async (page) => {
      await page.route('**/admin/stream*', (route) => route.abort())
      await page.route(
        '**/admin/status*',
        altered(() => ENDED),
      )
      await page.reload()
      await page.locator('.navigation a[href="#/lifecycle"]').click()
      await page.locator('.end-progress progress').first().waitFor()
    },
  ],
  [
    'print',
    async (page) => {
      await openAnew(page, 'reports')
      await page.emulateMedia({ media: 'print' })
    },
  ],
]

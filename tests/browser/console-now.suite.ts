/** The map of the first view: numbers on its cells, its scale, and cards of single pilgrims. */
import { expect, test } from 'bun:test'
import type { OpenPage, Page } from './browser.ts'
import { photograph, seriousFaults } from './browser.ts'
import { PILGRIMS } from './console-data.ts'
import type { ConsoleOptions } from './console-harness.ts'
import { openView, VIEWS } from './console-tour.ts'
import { until } from '#tests/helpers/wait.ts'

/** Panels with figures of the service that are not marked as outdated. */
const notOld = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [
      ...document.querySelectorAll<HTMLElement>(
        '#view .panel:not(.figures, .compose, .end-event), .figures .tile, .navigation .count',
      ),
    ]
      .filter(
        (part) =>
          !part.matches('.count.old') &&
          part.querySelector('.stamp.old') === null &&
          part.querySelector('.figure')?.textContent !== '–' &&
          !part.innerText.includes('Loading…'),
      )
      .map(({ className, innerText }) => `${className}: ${innerText.slice(0, 40)}`),
  )

/** Records the texts that the page draws on the canvas of the crowd. */
const watchNumbers = async (page: Page): Promise<void> => {
  await page.addInitScript(() => {
    let texts: string[] = []
    const { fillText, clearRect } = CanvasRenderingContext2D.prototype
    const isCrowd = ({ canvas }: CanvasRenderingContext2D) => canvas.classList.contains('crowd')
    CanvasRenderingContext2D.prototype.clearRect = function clear(...box) {
      if (isCrowd(this)) texts = []
      clearRect.apply(this, box)
    }
    CanvasRenderingContext2D.prototype.fillText = function fill(...written) {
      if (isCrowd(this)) texts.push(written[0])
      fillText.apply(this, written)
    }
    Object.assign(globalThis, { numbersOnCells: () => texts.map(Number) })
  })
}

const numbersOn = (page: Page): Promise<number[]> =>
  page.evaluate(() => (Reflect.get(globalThis, 'numbersOnCells') as () => number[])())

/** Zooms in to where single pilgrims are shown and cells get no smaller. */
async function goNear(page: Page): Promise<void> {
  const asked = page.waitForResponse('**/admin/clusters?*zoom=14*')
  for (let i = 0; i < 4; i++) await page.locator('.map-controls button').first().click()
  await asked
  // A response to an earlier step may arrive before the last one is painted.
  await page.evaluate(
    () => new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted))),
  )
}

/** The id of a dot that is not covered. */
const uncovered = (page: Page) =>
  page.evaluate(() => {
    for (const dot of document.querySelectorAll<HTMLElement>('.person-dot')) {
      const { left, top, width, height } = dot.getBoundingClientRect()
      if (document.elementFromPoint(left + width / 2, top + height / 2) === dot) return dot.dataset['id']!
    }
    throw new Error('No pilgrim is in sight.')
  })

/** Waits until a corner of the map that shows only land is light or dark. */
const groundIs = (page: Page, wanted: 'light' | 'dark') =>
  page.waitForFunction((wish) => {
    const ground = document.querySelector<HTMLCanvasElement>('canvas.ground')!
    const [red, green, blue, opacity] = ground.getContext('2d')!.getImageData(2, 2, 1, 1).data
    const isLight = red! + green! + blue! > 380
    return opacity === 255 && isLight === (wish === 'light')
  }, wanted)

/** A chart has a line only after two complete steps of ten seconds. */
const LINE_TIMEOUT_MS = 45_000

/** The moving charts show their values at the time selected by pointer or keyboard. */
export async function expectChartTells(page: Page): Promise<void> {
  await page.locator('.rate.points .line').waitFor({ timeout: LINE_TIMEOUT_MS })
  const times = page.getByRole('slider', { name: 'Check-ins and points received a minute' })
  await times.hover({ position: { x: 5, y: 20 } })
  const tip = page.locator('.rate.points .tip')
  // Times that were not observed have no value: the first observed one is shown.
  expect(await tip.innerText()).toMatch(/^\d\d:\d\d:\d\d [\d,]+$/)
  expect(await page.locator('.rate.checkins .tip').count()).toBe(1)
  await times.focus()
  await page.keyboard.press('End')
  const valueText = await times.getAttribute('aria-valuetext')
  expect(valueText).toMatch(
    /^\d\d:\d\d:\d\d · Check-ins received a minute: [\d,]+ · Points received a minute: [\d,]+$/,
  )
  await page.keyboard.press('ArrowLeft')
  expect(await times.getAttribute('aria-valuetext')).not.toBe(valueText)
  await photograph(page, 'console-rates')
  await page.keyboard.press('Escape')
  await tip.waitFor({ state: 'detached' })
  expect(await seriousFaults(page)).toEqual([])
}

export function nowTests(open: (options: ConsoleOptions) => Promise<OpenPage>): void {
  test('cells show their numbers, the map its scale; a pilgrim on it has a card', async () => {
    await using opened = await open({ before: watchNumbers })
    const { page } = opened
    await page.locator(`section.map[aria-label^="${PILGRIMS} pilgrims"]`).waitFor()
    await page.waitForFunction(
      (all) =>
        (Reflect.get(globalThis, 'numbersOnCells') as () => number[])().reduce((a, b) => a + b, 0) >= all / 2,
      PILGRIMS,
    )
    // A number that does not fit is omitted.
    const sum = (await numbersOn(page)).reduce((total, users) => total + users, 0)
    expect(sum).toBeLessThanOrEqual(PILGRIMS)
    expect(await page.locator('.map-scale').innerText()).toMatch(/^[125]0* k?m$/)
    await goNear(page)
    await page.locator('.person-dot').first().waitFor()
    await page.getByText('last 30 minutes').or(page.getByText('earlier')).first().waitFor()

    // By hovering, then by a real click, which keeps it open.
    const id = await uncovered(page)
    const dot = page.locator(`.person-dot[data-id="${id}"]`)
    // Waits until the dot stands still: the page above the map may still grow.
    await dot.hover()
    const card = page.locator('.dot-card')
    await card.getByText('km · Level').waitFor()
    expect(await card.getByRole('button', { name: 'Close' }).count()).toBe(0)
    await dot.click()
    await card.getByRole('button', { name: 'Close' }).waitFor()
    expect(await card.getAttribute('data-of')).toBe(id)
    await photograph(page, 'console-pilgrim-card')
    expect(await seriousFaults(page)).toEqual([])
    const [inside, around] = await Promise.all(
      [card, page.locator('section.map')].map((part) => part.boundingBox()),
    )
    expect(inside!.x).toBeGreaterThanOrEqual(around!.x)
    expect(inside!.y).toBeGreaterThanOrEqual(around!.y)
    expect(inside!.x + inside!.width).toBeLessThanOrEqual(around!.x + around!.width)
    await card.getByRole('button', { name: 'Close' }).click()
    // A pilgrim under the pointer would open a card again.
    await page.mouse.move(0, 0)
    await page.locator(`.dot-card[data-of="${id}"]`).waitFor({ state: 'detached' })

    // By keyboard: Enter opens it, Escape restores the focus, and its button opens the pilgrim.
    await dot.focus()
    await page.keyboard.press('Enter')
    await card.locator('button:focus').waitFor()
    // Its name on the map is hidden where it would cover another.
    expect(await card.locator('header strong').innerText()).toBe((await dot.textContent())!)
    await page.keyboard.press('Escape')
    await card.waitFor({ state: 'detached' })
    expect(await dot.evaluate((one) => one === document.activeElement)).toBe(true)
    await page.keyboard.press('Enter')
    await card.getByRole('button', { name: 'Open', exact: true }).click()
    await page.locator('.person .level-line').waitFor()
    expect(page.url()).not.toContain(id)
  })

  test('what is old is grey, and can be read in both themes, which the map follows', async () => {
    await using opened = await open({ expected: /ERR_INTERNET_DISCONNECTED/ })
    const { page } = opened
    await page.locator(`section.map[aria-label^="${PILGRIMS} pilgrims"]`).waitFor()
    await page.context().setOffline(true)
    const wrong = page.locator('.panel', { hasText: 'Status' })
    await page.locator('.panel.stale').and(wrong).waitFor({ timeout: 60_000 })
    await page.locator('.tile.stale .figure').first().waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await groundIs(page, colorScheme)
      expect(await seriousFaults(page)).toEqual([])
      await photograph(page, `console-old-${colorScheme}`)
    }
  }, 90_000)

  test('the service hangs: every figure of every view says that it is old', async () => {
    await using opened = await open({})
    const { page } = opened
    for (const view of VIEWS) await openView(page, view)
    await openView(page, 'now')
    await page.locator(`section.map[aria-label^="${PILGRIMS} pilgrims"]`).waitFor()
    expect(await page.locator('.procession').innerText()).toContain('without the first and last 5 %')
    expect(await notOld(page)).not.toEqual([])
    // Connections stay open without a response.
    await page.route('**/api/event/**', () => {})
    for (const view of VIEWS) {
      await page.locator(`.navigation a:not(.count)[href="#/${view}"]`).click()
      const isOld = async () => {
        expect(await notOld(page)).toEqual([])
        return true
      }
      await until(isOld, `all of ${view} to be called old`, { timeoutMs: 60_000, everyMs: 500 })
      expect({ view, old: await page.locator('#view .stamp.old').count() }).not.toEqual({ view, old: 0 })
      await photograph(page, `console-hangs-${view}`)
    }
  }, 150_000)

  test('a volunteer sees numbers on cells, and no single pilgrim', async () => {
    await using opened = await open({ role: 'volunteer', before: watchNumbers })
    const { page } = opened
    await page.locator(`section.map[aria-label^="${PILGRIMS} pilgrims"]`).waitFor()
    await goNear(page)
    await page.waitForFunction(
      () => (Reflect.get(globalThis, 'numbersOnCells') as () => number[])().length > 0,
    )
    expect(await page.locator('.person-dot').count()).toBe(0)
    const asked = (await opened.fetched()).map(({ path }) => path)
    expect(asked.filter((path) => /\/(?:data|admin\/users)/.test(path))).toEqual([])
  })

  test('the wheel and one finger scroll the page over a map; Ctrl, a click and two fingers move it', async () => {
    await using opened = await open({ viewport: { width: 390, height: 844 } })
    const { page } = opened
    await page.locator(`section.map[aria-label^="${PILGRIMS} pilgrims"]`).waitFor()
    await page.locator('section.map').scrollIntoViewIfNeeded()
    const scale = () => page.locator('.map-scale').innerText()
    const scrolled = () =>
      page.evaluate(() => document.querySelector('.map-frame')!.getBoundingClientRect().top)
    const middle = async () => {
      const box = (await page.locator('section.map').boundingBox())!
      return [box.x + box.width / 3, box.y + box.height / 2] as const
    }
    const [zoomed, top] = [await scale(), await scrolled()]
    await page.mouse.move(...(await middle()))
    await page.mouse.wheel(0, 120)
    await page.locator('.map-hint[data-tried="wheel"]').waitFor()
    await page.waitForFunction(
      (before) => document.querySelector('.map-frame')!.getBoundingClientRect().top < before,
      top,
    )
    expect(await scale()).toBe(zoomed)
    await page.mouse.move(...(await middle()))
    await page.keyboard.down('Control')
    await page.mouse.wheel(0, -120)
    await page.keyboard.up('Control')
    await page.waitForFunction(
      (before) => document.querySelector<HTMLElement>('.map-scale')!.innerText !== before,
      zoomed,
    )

    // Touch input through the devtools.
    const devtools = await page.context().newCDPSession(page)
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', places: readonly (readonly number[])[]) =>
      devtools.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: places.map(([x, y], id) => ({ x: x!, y: y!, id })),
      })
    const [x, y] = await middle()
    const near = await scale()
    await touch('touchStart', [[x, y]])
    for (let i = 1; i <= 6; i++) await touch('touchMove', [[x + i * 8, y]])
    await page.locator('.map-hint[data-tried="touch"]').waitFor()
    await photograph(page, 'console-map-hint')
    await touch('touchEnd', [])
    expect(await scale()).toBe(near)
    await touch('touchStart', [
      [x, y],
      [x + 40, y],
    ])
    for (let i = 1; i <= 10; i++)
      await touch('touchMove', [
        [x - i * 6, y],
        [x + 40 + i * 6, y],
      ])
    await touch('touchEnd', [])
    await page.waitForFunction(
      (before) => document.querySelector<HTMLElement>('.map-scale')!.innerText !== before,
      near,
    )
  })
}

/** Tests of the console's reports: what is downloaded and printed, and the procession over time. */
import { expect, test } from 'bun:test'
import { figure } from '#shared/locales/units.ts'
import { type OpenPage, photograph, type Page, SCREENSHOTS } from './browser.ts'
import type { ConsoleOptions } from './console-harness.ts'
import type { Route } from 'playwright-core'

/** Chooses a file of the menu of exports. */
async function saveFile(page: Page, file: string): Promise<void> {
  await page.getByRole('button', { name: 'Export' }).click()
  await page.locator('.export-menu').getByRole('button', { name: file, exact: true }).click()
}

const QUESTIONS = 10
const ANSWERS = 8
const DAYS = 14

/** A response with the largest figures that a page could have to fit. */
const crowded = (change: (data: Record<string, unknown>) => object) => async (route: Route) => {
  const response = await route.fetch()
  const body = (await response.json()) as { data?: Record<string, unknown> } & Record<string, unknown>
  const { data } = body
  await route.fulfill({
    response,
    json: data === undefined ? { ...body, ...change(body) } : { ...body, data: { ...data, ...change(data) } },
  })
}

const questions = Array.from({ length: QUESTIONS }, (_, i) => `q${i + 1}`)
const answers = Object.fromEntries(
  Array.from({ length: ANSWERS }, (_, i) => [
    `The ${i}. answer, which many gave, in words that are long`,
    90 - i,
  ]),
)
const SURVEYS = {
  responses: Object.fromEntries(questions.map((question) => [question, 700])),
  counts: Object.fromEntries(questions.map((question) => [question, answers])),
}
const CARBON = {
  by_day: Array.from({ length: DAYS }, (_, i) => ({ day: `2026-04-${i + 10}`, km: 100 + i, kg: i })),
}

function printTests(open: (options: ConsoleOptions) => Promise<OpenPage>): void {
  test('the browser’s own menu prints the report light, as wide as the paper, and on one page', async () => {
    for (const language of ['en', 'zh-Hant'] as const) {
      await using opened = await open({
        view: 'reports',
        colorScheme: 'dark',
        language,
        async before(page) {
          await page.route(
            '**/admin/surveys?*',
            crowded(() => SURVEYS),
          )
          await page.route(
            '**/admin/carbon*',
            crowded(() => CARBON),
          )
        },
      })
      const { page } = opened
      await page
        .locator('.questions section')
        .nth(QUESTIONS - 1)
        .waitFor()
      await page
        .locator('.procession-over-time .procession-rows .number', { hasText: /\d/ })
        .first()
        .waitFor()
      const chart = page.locator('.time-chart canvas')
      /** Its width in pixels, and how many of them have the line's colour on paper. */
      const drawn = () =>
        chart.evaluate((canvas: HTMLCanvasElement) => {
          const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height)
          let jade = 0
          for (let i = 0; i < data.length; i += 4)
            if (data[i] === 0x12 && data[i + 1] === 0x5a && data[i + 2] === 0x52 && data[i + 3] === 255)
              jade++
          return { width: canvas.width, jade }
        })
      const onScreen = await drawn()
      // The events that the browser's print menu causes: pictures are drawn before it continues.
      const printed = await page.evaluate(async () => {
        dispatchEvent(new Event('beforeprint'))
        await Promise.resolve()
        const map = document.querySelector<HTMLCanvasElement>('.printed-map')!
        return map.getContext('2d')!.getImageData(2, 2, 1, 1).data.join()
      })
      const onPaper = await drawn()
      // Land or sea in the light theme.
      expect(printed).toBeOneOf(['251,245,231,255', '214,226,220,255'])
      expect(onScreen.jade).toBe(0)
      expect(onPaper.jade).toBeGreaterThan(500)
      expect(onPaper.width).toBe(2_224)
      await page.evaluate(() => dispatchEvent(new Event('afterprint')))
      expect(await drawn()).toEqual(onScreen)
      await page.setViewportSize({ width: 718, height: 1_047 })
      await page.emulateMedia({ media: 'print' })
      const boxOf = async (part: string) => (await page.locator(part).first().boundingBox())!
      const [panel, picture] = [await boxOf('.panel.timeline'), await boxOf('.time-chart canvas')]
      expect(picture.width).toBeGreaterThan(panel.width * 0.95)
      const [words, map] = [await boxOf('.in-words'), await boxOf('.printed-map')]
      expect(map.x).toBeGreaterThan(words.x + words.width)
      expect(map.width).toBeGreaterThan(panel.width * 0.4)
      await photograph(page, `console-print-${language}`, true)
      const { y, height } = await boxOf('.view.reports')
      // An A4 page has 1,047 pixels. A longer figure or sentence of another event may need another line.
      expect(y + height).toBeLessThan(1_025)
      await page.emulateMedia({ media: null })
      const paper = await page.pdf({ preferCSSPageSize: true, printBackground: false })
      if (SCREENSHOTS !== undefined) await Bun.write(`${SCREENSHOTS}/console-report-${language}.pdf`, paper)
      expect(paper.toString('latin1').match(/\/Type\s*\/Page\b/g)).toHaveLength(1)
    }
  })
}

/** @param open opens the console of an event with data whose route is `ROUTE` */
export function reportTests(open: (options: ConsoleOptions) => Promise<OpenPage>): void {
  test('the report downloads as CSV', async () => {
    await using opened = await open({ view: 'reports' })
    const { page } = opened
    await page.locator('.questions section').first().waitFor()
    await page.locator('.procession-over-time output', { hasText: 'places' }).waitFor()
    const saved = async (file: string) => {
      const [download] = await Promise.all([page.waitForEvent('download'), saveFile(page, file)])
      const bytes = await Bun.file(await download.path()).bytes()
      return { name: download.suggestedFilename(), bytes, text: new TextDecoder().decode(bytes) }
    }
    const timeline = await saved('Timeline CSV')
    expect(timeline.text.split('\r\n')[0]).toBe(
      'local_time,points,checkins,pilgrims,km_on_foot_and_by_vehicle,carbon_kg,utc',
    )
    expect(timeline.name).toMatch(/^timeline-by-hour-\d{4}-\d\d-\d\d-\S+\.csv$/)
    // Local time is next to the instant.
    const [, local, utc] = /^([^,]+),.*,([^,]+)$/.exec(timeline.text.split('\r\n')[1]!)!
    expect(Date.parse(`${local!.replace(' ', 'T')}:00+08:00`)).toBe(Date.parse(utc!))
    const summary = await saved('Summary CSV')
    expect(summary.text.split('\r\n')[1]).toMatch(/^Walked together,,[\d.]+,km$/)
    expect(summary.text).toMatch(/\r\nPilgrims,\d{4}-\d\d-\d\d,\d+,\r\n/)
    // The menu follows the panels.
    await page.getByRole('button', { name: 'Export' }).click()
    expect(await page.locator('.export-menu .grow').allInnerTexts()).toEqual([
      'Summary',
      'Timeline',
      'Front to tail over time',
      'Carbon',
      'Survey answers, private: names and ids',
      'Survey codes',
    ])
    await page.keyboard.press('Escape')
    const procession = await saved('Front to tail over time CSV')
    const rows = procession.text.split('\r\n')
    expect(rows[0]).toBe('From,To,What,Place,Route km,Latitude,Longitude,Points,From (UTC)')
    expect(procession.name).toMatch(/^procession-\d{4}-\d\d-\d\d-\d{4}-\S+\.csv$/)
    const shown = await page.locator('.procession-over-time .procession-rows li').allInnerTexts()
    for (const [i, mark] of ['front', 'middle', 'tail'].entries()) {
      const [from, , what, place, km] = rows[i + 1]!.split(',')
      expect(from).toMatch(/^\d{4}-\d\d-\d\d \d\d:00$/)
      expect(what?.toLowerCase()).toBe(mark)
      expect(place).toBeOneOf(['near South Gate', 'between South Gate and North Gate', 'near North Gate'])
      expect(shown[i]!.split(/\s*\n\s*/)).toEqual([
        `${mark[0]!.toUpperCase()}${mark.slice(1)}`,
        place!,
        `km ${figure(Number(km))}`,
      ])
    }
    expect(rows[4]).toMatch(/,"?Area, m wide: [67]00"?,(near|between) /)
    expect(rows.at(-2)).toContain('Do not publish')
    const surveys = await saved('Survey answers, private: names and ids CSV')
    expect(surveys.name).toEndWith('.csv')
    expect(surveys.text).toContain('The soup at the 12. temple')
    const codes = await saved('Survey codes CSV')
    expect(codes.text.split('\r\n')[0]).toBe('question,text,answer,meaning')
    expect(codes.text).toContain('q2,Who do you walk with?,group,A temple or a group\r\n')
    expect(codes.text).toContain('q10,What else do you want to tell us?,,\r\n')
  })

  test('the busiest hour is named, of all and of the chosen series', async () => {
    await using opened = await open({ view: 'reports' })
    const { page } = opened
    const panel = page.locator('.panel.timeline')
    const most = async (series: string) => {
      const text = await panel
        .locator('output', { hasText: new RegExp(`Most: \\S+ ${series} \\(`) })
        .innerText()
      return /Most: (\S+) .+ \((.+)\)/.exec(text)!.slice(1)
    }
    await panel.getByText('Table', { exact: true }).click()
    const table = panel.getByRole('table', { name: 'Timeline' })
    const rows = await table
      .locator('tbody tr')
      .evaluateAll((all) =>
        all.map((row) => Array.from(row.children, (cell) => (cell as HTMLElement).innerText)),
      )
    const columns = await table.locator('thead th').allTextContents()
    for (const series of ['km on foot and by vehicle', 'Points', 'Pilgrims']) {
      await panel.getByLabel('Show').selectOption({ label: series })
      const figure = (row: string[]) => Number(row[columns.indexOf(series)]!.replaceAll(',', ''))
      const highest = rows.reduce((one, row) => (figure(row) > figure(one) ? row : one))
      expect(await most(series)).toEqual([highest[columns.indexOf(series)]!, highest[0]!])
    }
  })

  test('an hour is chosen by its day and time; marks that lie on each other become one', async () => {
    await using opened = await open({ view: 'reports' })
    const { page } = opened
    const panel = page.locator('.panel.procession-over-time')
    await panel.locator('output', { hasText: 'places' }).waitFor()
    const hours = panel.getByLabel('Hour').first()
    await hours.selectOption({ index: 0 })
    const hour = await hours.locator('option:checked').innerText()
    await panel.locator('output', { hasText: `${hour}–` }).waitFor()
    await panel.locator('output', { hasText: 'places' }).waitFor()
    expect(await panel.locator('input[type="range"]').getAttribute('aria-valuetext')).toContain(`${hour}–`)
    const signs = panel.locator('.marker svg:visible')
    await signs.first().waitFor()
    for (let i = 0; i < 5; i++) await panel.getByRole('button', { name: 'Farther' }).click()
    // At successive zoom steps, the marks are merged one after the other.
    const name = panel.locator('.marker span[data-also*="Tail"]')
    await name.waitFor()
    expect(await signs.count()).toBe(1)
    const text = await name.evaluate(
      (span) => `${span.textContent}${getComputedStyle(span, '::after').content}`,
    )
    expect(text).toBe('Front" · Middle · Tail"')
    await photograph(page, 'console-procession')
  })

  printTests(open)
}

/** Tests of the console's reports: what is downloaded and printed, and the procession over time. */
import { expect, test } from 'bun:test'
import { figure } from '#shared/locales/units.ts'
import { type OpenPage, photograph } from './browser.ts'
import type { ConsoleOptions } from './console-harness.ts'
import { pictureTests, saveFile } from './console-pictures.suite.ts'

/** @param open opens the console of an event with data, of which `ROUTE` is the way */
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
    // Local time stands beside the instant.
    const [, local, utc] = /^([^,]+),.*,([^,]+)$/.exec(timeline.text.split('\r\n')[1]!)!
    expect(Date.parse(`${local!.replace(' ', 'T')}:00+08:00`)).toBe(Date.parse(utc!))
    const procession = await saved('Procession over time CSV')
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
      const said = await panel
        .locator('output', { hasText: new RegExp(`Most: \\S+ ${series} \\(`) })
        .innerText()
      return /Most: (\S+) .+ \((.+)\)/.exec(said)!.slice(1)
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
    // The steps of the zoom join one mark after the other.
    const name = panel.locator('.marker span[data-also*="Tail"]')
    await name.waitFor()
    expect(await signs.count()).toBe(1)
    const text = await name.evaluate(
      (span) => `${span.textContent}${getComputedStyle(span, '::after').content}`,
    )
    expect(text).toBe('Front" · Middle · Tail"')
    await photograph(page, 'console-procession')
  })

  pictureTests(open)
}

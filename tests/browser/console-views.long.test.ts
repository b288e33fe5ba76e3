/** Every view of the console with injected markup: it stays text, and the views are accessible. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { openEmbeddedTestStack, STACK_TIMEOUT_MS } from '#tests/helpers/open-test-stack.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import type { TestStack } from '#tests/helpers/test-stack.ts'
import { photograph, seriousFaults } from './browser.ts'
import { fillEvent, HASTY, HOSTILE, pilgrimId, PILGRIMS, ROUTE, WALK_POINTS } from './console-data.ts'
import { consoleBrowser, DESKTOP, type Page } from './console-harness.ts'
import { keyboardTests } from './console-keyboard.suite.ts'
import { nowTests } from './console-now.suite.ts'
import { refusalTests } from './console-refusals.suite.ts'
import { scheduleTests } from './console-schedule.suite.ts'
import { reportTests } from './console-reports.suite.ts'
import { signOutTests } from './console-sign-out.suite.ts'
import { noteTests } from './console-notes.suite.ts'
import { silentTests } from './console-silent.suite.ts'
import { openView, type View, VIEWS } from './console-tour.ts'

const browser = consoleBrowser()
const PHONE = { width: 390, height: 844 }
const WALL = { width: 2_560, height: 1_440 }
const FIRST_LOAD_BYTES = 120_000

/** Opens the panels that show most of a pilgrim's texts. */
async function openDetails(page: Page, view: View): Promise<void> {
  if (view === 'people') {
    await page.locator('.name-button', { hasText: HOSTILE[0] }).first().click()
    await page.locator('.person .level-line').waitFor()
  } else if (view === 'feedback') {
    await page.locator('.feedback-card').first().click()
    await page.locator('.one-item .screenshot img').waitFor()
  } else if (view === 'reports') await page.locator('.texts summary').click()
}

describe('the console with data', () => {
  let stack: TestStack
  beforeAll(async () => {
    // The tests open the console with one token, more often than an operator would.
    const route = join(await newDirectory('console-route'), 'route.json')
    await Bun.write(route, JSON.stringify(ROUTE))
    stack = await openEmbeddedTestStack({ EVENT_LIMIT_ADMIN: '1000', EVENT_ROUTE: route })
    await fillEvent(stack)
  }, 2 * STACK_TIMEOUT_MS)
  afterAll(async () => stack?.close())

  test('texts stay texts on every view, in both themes, from a phone to a wall', async () => {
    for (const [theme, viewport, language] of [
      ['light', DESKTOP, 'en'],
      ['dark', PHONE, 'zh-Hant'],
      ['dark', WALL, 'en'],
    ] as const) {
      await using opened = await browser.console(stack, { viewport, colorScheme: theme, language })
      const { page } = opened
      for (const view of VIEWS) {
        await openView(page, view)
        await openDetails(page, view)
        await photograph(page, `console-${view}-${theme}-${viewport.width}`)
        if (viewport !== WALL)
          expect({ view, faults: await seriousFaults(page) }).toEqual({ view, faults: [] })
        expect(await page.evaluate(() => 'hit' in globalThis)).toBe(false)
        expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)).toBe(false)
      }
    }
  }, 120_000)

  test('a pilgrim’s points say why they are left out; no id is in the address', async () => {
    await using opened = await browser.console(stack, { view: 'people' })
    const { page } = opened
    await page.locator('.people-search').fill(pilgrimId(7))
    await page.locator('.people-list').getByText('1–1 of 1').first().waitFor()
    await page.locator('.name-button').first().click()
    await page.locator('.person').getByText(`${WALK_POINTS} points`).waitFor()
    // The pilgrim's position as text, and its time.
    await page.locator('.person .where', { hasText: /^(near|between) .*ago\)$/s }).waitFor()
    await page.getByRole('button', { name: 'Points' }).click()
    const table = page.locator('.person tbody')
    await table.getByText('start', { exact: true }).first().waitFor()
    await table.getByText('counted', { exact: true }).first().waitFor()
    const chosen = page.locator('.point-dot[aria-pressed="true"]')
    await table.locator('.point-time').nth(4).click()
    expect(await chosen.getAttribute('title')).toContain(
      await table.locator('.point-time').nth(4).innerText(),
    )
    // The way is a vermilion line on the map.
    await page.waitForFunction(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('.person canvas.crowd')!
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height)
      let walked = 0
      for (let i = 0; i < data.length; i += 4)
        if (data[i] === 0x9c && data[i + 1] === 0x1f && data[i + 2] === 0x1a) walked++
      return walked > 100
    })
    await page.locator('.point-dot').nth(2).dispatchEvent('click')
    expect(await table.locator('.point-time').nth(2).getAttribute('aria-pressed')).toBe('true')
    // A real click, because the map captures the pointer.
    const box = (await page.locator('.point-dot').last().boundingBox())!
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2)
    await page.locator('.point-dot[aria-pressed="true"]:not(:nth-of-type(3))').first().waitFor()
    expect(page.url()).not.toContain(pilgrimId(7))
    await photograph(page, 'console-points')
    const person = page.locator('.person')
    await person.getByRole('button', { name: 'About' }).click()
    await person.getByText(/^missing: .+/).waitFor()
    // Two people may have the same name, and a name may contain characters that are invalid in file names.
    const download = page.waitForEvent('download')
    await person.getByRole('button', { name: 'Walk (GPX)' }).click()
    expect((await download).suggestedFilename()).toMatch(/^[\p{L}\p{N}][\p{L}\p{M}\p{N}_.-]+$/u)
    expect((await download).suggestedFilename()).toEndWith(`-${pilgrimId(7).slice(-6)}.gpx`)
    // An erasure requires typing the shown name or the id.
    await person.getByRole('button', { name: 'Erase…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('reports with photos').waitFor()
    const erase = dialog.getByRole('button', { name: 'Erase forever' })
    const field = dialog.locator('input')
    for (const typed of [await person.getByRole('heading').first().innerText(), pilgrimId(7)]) {
      await field.fill('')
      expect(await erase.isDisabled()).toBe(true)
      await field.fill(typed)
      expect({ typed, disabled: await erase.isDisabled() }).toEqual({ typed, disabled: false })
    }
    await dialog.getByRole('button', { name: 'Cancel' }).click()
  })

  test('the first tab of a pilgrim tells what is not counted, and leads to these points', async () => {
    await using opened = await browser.console(stack, { view: 'people' })
    const { page } = opened
    await page.locator('.people-list').getByText(`1–${PILGRIMS} of ${PILGRIMS}`).first().waitFor()
    await page.locator('.people-search').fill(pilgrimId(HASTY))
    await page.locator('.people-list').getByText('1–1 of 1').first().waitFor()
    await page.locator('.name-button').first().click()
    const person = page.locator('.person')
    await person.getByText(`Not counted: 1 / ${WALK_POINTS + 1} points`).waitFor()
    await person.getByText('1: under 30 s after the last').waitFor()
    await photograph(page, 'console-left-out')
    await person.getByRole('button', { name: 'Points: Not counted' }).click()
    await person.locator('tbody tr').waitFor()
    expect(await person.locator('tbody tr').innerText()).toContain('Not counted: under 30 s')
    await person.getByText('1–1 of 1').waitFor()
    await person.getByRole('button', { name: 'Not counted: 1', pressed: true }).click()
    await person.getByRole('button', { name: 'Not counted: 1', pressed: false }).waitFor()
    await person.getByText(`1–${WALK_POINTS + 1} of ${WALK_POINTS + 1}`).waitFor()
    await page.locator('.people-search').fill('')
    await page.locator('.people-list').getByText(`1–${PILGRIMS} of ${PILGRIMS}`).first().waitFor()
    // Beside a pilgrim's panel, the list shows all its columns.
    for (const width of [1_280, 1_440]) {
      await page.setViewportSize({ ...DESKTOP, width })
      const hidden = await page
        .locator('.people-list .table-frame')
        .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
      expect({ width, hidden }).toEqual({ width, hidden: 0 })
    }
    await photograph(page, 'console-people-chosen')
  })

  reportTests((options) => browser.console(stack, options))

  test('the first load is small', async () => {
    await using opened = await browser.console(stack, { role: 'manager' })
    const { page } = opened
    await page.locator('.parts').waitFor()
    const paths = (await opened.fetched()).map(({ path }) => path).filter((path) => !path.startsWith('/api'))
    let bytes = 0
    for (const path of new Set(paths))
      bytes += gzipSync(await (await stack.fetch(path)).arrayBuffer(), { level: 9 }).byteLength
    console.log(`first load: ${bytes} bytes in ${paths.length} files`)
    expect(bytes).toBeLessThan(FIRST_LOAD_BYTES)
  })

  nowTests((options) => browser.console(stack, options))

  refusalTests((options) => browser.console(stack, options))

  scheduleTests((options) => browser.console(stack, options))

  keyboardTests((options) => browser.console(stack, options))

  test('the palette leads to a panel; the audit log is filtered by action and time', async () => {
    await using opened = await browser.console(stack)
    const { page } = opened
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Search' }).waitFor()
    await page.keyboard.type('audit')
    await page.keyboard.press('Enter')
    const rows = page.locator('.audit tbody tr')
    await rows.nth(1).waitFor()
    expect(await page.evaluate(() => document.activeElement?.className)).toContain('audit')
    await page.getByText('Filter', { exact: true }).click()
    await page.getByLabel('Action').selectOption({ label: 'Message sent' })
    await rows.filter({ hasText: 'no role' }).waitFor({ state: 'detached' })
    expect(await rows.count()).toBe(1)
    expect(await rows.innerText()).toContain('Message sent')
    expect(await rows.innerText()).toContain(`Everybody · ${PILGRIMS} recipients · “${HOSTILE[0]}”`)
    await page.getByLabel('Action').selectOption({ label: 'Schedule' })
    await rows
      .filter({ hasText: /Reminder removed \d\d:00$/ })
      .first()
      .waitFor()
    await page.getByLabel('Action').selectOption({ label: 'Role' })
    await rows.filter({ hasText: 'no role → Volunteer' }).waitFor()
    // The name opens the pilgrim.
    await rows.getByRole('button', { name: HOSTILE[0] }).click()
    await page.locator('.person .level-line').waitFor()
    await page.goBack()
    await page.getByText('Filter', { exact: true }).click()
    await page.getByLabel('Action').selectOption({ label: 'Message sent' })
    await rows.filter({ hasText: 'Everybody' }).waitFor()
    await page.getByLabel('When').selectOption({ label: 'Between…' })
    await page.getByLabel('To', { exact: true }).fill('2020-01-01T06:00')
    await page.locator('.audit').getByText('None.').waitFor()
  })

  signOutTests((options) => browser.console(stack, options))
  noteTests(
    () => stack,
    (options) => browser.console(stack, options),
  )
  silentTests(
    () => stack,
    (options) => browser.console(stack, options),
  )

  test('the language is changed in place', async () => {
    await using opened = await browser.console(stack, { role: 'manager' })
    const { page } = opened
    await page.keyboard.press('Control+k')
    await page.getByRole('button', { name: '繁體中文' }).click()
    await page.locator('.navigation a', { hasText: '現況' }).waitFor()
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('zh-Hant')
    await photograph(page, 'console-now-zh')
  })
})

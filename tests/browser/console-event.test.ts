/** An owner sets up the event in the console, and the public map follows. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { decodeQR } from 'qr/decode.js'
import { openTestStack, STACK_TIMEOUT_MS } from '#tests/helpers/open-test-stack.ts'
import type { TestStack } from '#tests/helpers/test-stack.ts'
import { photograph } from './browser.ts'
import { consoleBrowser } from './console-harness.ts'

const browser = consoleBrowser()
let stack: TestStack
beforeAll(async () => {
  stack = await openTestStack({ EVENT_TIMEZONE: 'Europe/Amsterdam' })
}, STACK_TIMEOUT_MS)
afterAll(() => stack?.close())

/** A process reads the settings every 2 s, makes a map every 10 s, and a page asks for it every 10 to 15 s. */
const FOLLOWS_MS = 60_000

test('an installation without an event is not started, until an owner names it; a stale form is refused', async () => {
  await using map = await browser.open(stack, { path: '/?lang=en' })
  await map.page.locator('.badge', { hasText: 'Not started' }).waitFor()
  await using opened = await browser.console(stack)
  const { page } = opened
  await page.locator('.top-bar .badge', { hasText: 'Not started' }).waitFor()
  const checklist = page.locator('.checklist')
  await checklist.waitFor()
  await photograph(page, 'console-not-started')
  // A row that waits is not on Now any more, and still in the view Event.
  const line = checklist.locator('li', { hasText: 'LINE' })
  await line.getByRole('button', { name: 'Later' }).click()
  await line.waitFor({ state: 'detached' })
  await checklist.locator('li', { hasText: 'Dates' }).getByRole('button', { name: 'Set' }).click()
  await line.waitFor()

  await using other = await browser.console(stack, { view: 'lifecycle', expected: /409/ })
  const form = other.page.locator('.event-name form')
  await form.getByLabel('English').fill('Four Days')

  await page.locator('.event-name').getByLabel('English').fill('Nijmegen Four Days')
  await page.getByLabel('Begins').fill('2026-07-21T04:00')
  await page.getByLabel('Ends').fill('2026-07-24T18:00')
  await page.locator('.event-name').getByRole('button', { name: 'Save' }).click()
  await page.locator('.event-name', { hasText: 'owner' }).waitFor()
  await checklist.locator('li', { hasText: 'Dates' }).getByText('done').waitFor()
  // What nobody has chosen yet can be confirmed as it is.
  await page.locator('.event-contact').getByRole('button', { name: 'Save' }).click()
  await checklist.locator('li', { hasText: 'Help numbers' }).getByText('done').waitFor()
  await page.locator('.top-bar', { hasText: 'Nijmegen Four Days' }).waitFor()

  await photograph(page, 'console-event')
  await form.getByRole('button', { name: 'Save' }).click()
  await other.page.locator('.toast', { hasText: 'Changed meanwhile by owner' }).waitFor()
  await form.getByText('Changed meanwhile to: Nijmegen Four Days').waitFor()
  expect(await form.getByLabel('English').inputValue()).toBe('Four Days')
  await form.getByRole('button', { name: 'Save' }).click()
  await page.locator('.top-bar', { hasText: /^Four Days/ }).waitFor()
  await map.page.getByRole('heading', { name: 'Four Days' }).first().waitFor({ timeout: FOLLOWS_MS })

  // The reader of a language that is not offered any more gets English, without loading the page again.
  await using reader = await browser.open(stack, { path: '/', locale: 'ja-JP' })
  await reader.page.locator('html[lang=ja]').waitFor()
  await page.locator('.event-languages input[name=ja]').uncheck()
  await page.locator('.event-languages').getByRole('button', { name: 'Save' }).click()
  await reader.page.locator('html[lang=en]').waitFor({ timeout: FOLLOWS_MS })
})

test('the poster has the event’s name, and its codes lead to the app and to the map', async () => {
  await using opened = await browser.console(stack, { view: 'lifecycle' })
  const { page } = opened
  const panel = page.locator('.event-poster')
  const poster = panel.locator('img.poster')
  await poster.waitFor()
  await photograph(page, 'console-poster')
  const saved = async (button: string) => {
    const download = page.waitForEvent('download')
    await panel.getByRole('button', { name: button }).click()
    const file = await download
    return { name: file.suggestedFilename(), bytes: await Bun.file(await file.path()).bytes() }
  }
  const pdf = await saved('Save as PDF')
  expect(pdf.name).toMatch(/^poster-en-.*\.pdf$/)
  const text = new TextDecoder('latin1').decode(pdf.bytes)
  expect(text.startsWith('%PDF-1.4')).toBe(true)
  // Readers find the objects by the table of offsets.
  const table = Number(/startxref\n(\d+)/.exec(text)![1])
  const offsets = [...text.slice(table).matchAll(/^(\d{10}) 00000 n/gm)].map(([, offset]) => Number(offset))
  expect(offsets.map((offset) => text.slice(offset, offset + 7))).toEqual(
    [1, 2, 3, 4, 5].map((number) => `${number} 0 obj`),
  )
  const png = await saved('Save as PNG')
  expect(new TextDecoder().decode(png.bytes.slice(1, 4))).toBe('PNG')

  /** The code in a half of the poster. */
  const codeIn = async (half: 0 | 1) => {
    const size = { width: 700, height: 1_980 }
    const dark = await poster.evaluate(
      async (image: HTMLImageElement, { width, height, half }) => {
        const context = new OffscreenCanvas(width, height).getContext('2d')!
        const wide = image.naturalWidth / 2
        context.drawImage(image, wide * half, 0, wide, image.naturalHeight, 0, 0, width, height)
        const { data } = context.getImageData(0, 0, width, height)
        return Array.from({ length: width * height }, (_, i) => (data[i * 4]! < 128 ? '1' : '0')).join('')
      },
      { ...size, half },
    )
    const data = Uint8Array.from({ length: dark.length * 4 }, (_, i) =>
      i % 4 < 3 && dark[i >> 2] === '1' ? 0 : 255,
    )
    return decodeQR({ ...size, data })
  }
  const { origin } = new URL(page.url())
  expect(await codeIn(0)).toBe(`${origin}/walk/`)
  expect(await codeIn(1)).toBe(`${origin}/`)
})

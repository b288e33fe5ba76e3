/** Every component of the pages in every state (`showcase/`), in all themes and languages. */
import { afterAll, describe, expect, test } from 'bun:test'
import { bundlePage } from '#proxy/pages/build/bundle.ts'
import { pageHtml } from '#proxy/pages/build/html.ts'
import { type PageEntry, policyOf } from '#proxy/pages/pages.ts'
import { openCertificate } from '#proxy/local/listen.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { photograph, seriousFaults, testBrowser } from './browser.ts'

const browser = testBrowser()
const THEMES = ['light', 'dark', 'sun'] as const

const SHOWCASE: PageEntry = {
  folder: 'showcase',
  path: '/',
  title: 'Design',
  description: { en: 'All components' },
}

/** Serves only the page of this folder. */
async function serveShowcase(directory: string): Promise<Bun.Server<undefined>> {
  const bundle = await bundlePage(SHOWCASE, {}, import.meta.dir)
  const data = {
    name: 'Design',
    timeZone: 'Asia/Taipei',
    language: 'zh-Hant' as const,
    languages: ['zh-Hant', 'zh-Hans', 'ja'] as const,
    checkinUrl: null,
    surveyUrl: null,
    files: {},
  }
  const icons = { icon: 'data:,', touchIcon: 'data:,', picture: 'data:,' }
  const html = pageHtml({ page: SHOWCASE, data, publicUrl: '', ...bundle, ...icons })
  return Bun.serve({
    port: 0,
    tls: await openCertificate(directory),
    fetch(request) {
      const path = new URL(request.url).pathname
      const file = path === '/' ? html : bundle.files.get(path)
      const type = path.endsWith('.js') ? 'text/javascript' : path.endsWith('.css') ? 'text/css' : 'text/html'
      const headers = { 'content-type': type, 'content-security-policy': policyOf('/') }
      return new Response(file as BodyInit | undefined, { status: file === undefined ? 404 : 200, headers })
    },
  })
}

const directory = mkdtempSync(join(tmpdir(), 'design-'))
const server = await serveShowcase(directory)
const stack = { port: server.port! }
afterAll(async () => {
  await server.stop(true)
  rmSync(directory, { recursive: true, force: true })
})

describe('the design of the pages', () => {
  test('has no serious fault of accessibility in any theme, and is photographed', async () => {
    for (const width of [390, 1_440]) {
      await using opened = await browser.open(stack, {
        path: '/?lang=zh-Hant',
        viewport: { width, height: 900 },
      })
      const { page } = opened
      await page.waitForSelector('h2')
      for (const theme of THEMES) {
        await page.locator('select').nth(1).selectOption(theme)
        expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe(theme)
        expect(await seriousFaults(page)).toEqual([])
        await photograph(page, `design-${theme}-${width}`, true)
      }
    }
  })

  test('its dialog opens and closes by the keyboard and gives the focus back', async () => {
    await using opened = await browser.open(stack, { path: '/?lang=en' })
    const { page } = opened
    await page.getByRole('button', { name: 'Open a dialog' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'End the event?' }).waitFor()
    await photograph(page, 'design-dialog')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Open a dialog')
    await page.getByRole('button', { name: 'Show a toast' }).click()
    await page.getByRole('status').getByText('大甲').waitFor()
  })

  test('is in the language that is asked for, chosen, or the browser’s', async () => {
    await using opened = await browser.open(stack, { path: '/', locale: 'ja-JP' })
    const { page } = opened
    await page.getByRole('option', { name: '日なた' }).waitFor({ state: 'attached' })
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('ja')
    await page.locator('select').first().selectOption('简体')
    await page.getByRole('option', { name: '大太阳' }).waitFor({ state: 'attached' })
    await page.reload()
    await page.getByRole('option', { name: '大太阳' }).waitFor({ state: 'attached' })
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('zh-Hans')
    await page.goto(`${new URL(page.url()).origin}/?lang=en`)
    await page.getByRole('option', { name: 'Sun', exact: true }).waitFor({ state: 'attached' })
  })
})

/**
 * The documentation page in Chromium: it shows every operation, its search finds one, and a check-in can be
 * tried on this server. Its content security policy blocks nothing that it does, and it contacts no other
 * host.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { type Embedded, startMigratedEmbedded } from '#tests/helpers/embedded.ts'
import { launchBrowser } from '#tests/browser/launch-browser.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'

let run: Embedded
let browser: Browser

beforeAll(async () => {
  run = await startMigratedEmbedded()
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser?.close()
  await run?.stop()
  run?.remove()
})

/** Opens the page. @returns the page, errors, and requests to other hosts */
async function openDocs(
  colorScheme: 'light' | 'dark',
  hash: string,
  width = 1_300,
): Promise<{ page: Page; faults: string[] }> {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    colorScheme,
    viewport: { width, height: 900 },
  })
  context.setDefaultTimeout(25_000)
  const page = await context.newPage()
  const faults: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== run.url)
      faults.push(`asked ${request.url()}`)
  })
  await page.goto(`${run.url}/api/event/docs${hash}`)
  await page.locator('rapi-doc').getByText('event tracking').last().waitFor({ state: 'attached' })
  return { page, faults }
}

test('shows every operation, finds one, tries a check-in, and sends the token that a reader enters', async () => {
  const { page, faults } = await openDocs('light', '#post-/api/event/checkin')
  const docs = page.locator('rapi-doc')
  expect(await docs.locator('.nav-bar-path').count()).toBe(ENDPOINTS.length)

  await docs.getByText('curl -X POST').first().waitFor()
  await docs.getByRole('button', { name: 'TRY', exact: true }).click()
  await docs.getByText('Response Status: Accepted:202').waitFor()
  await page.screenshot({ path: join(run.dataDir, 'docs.png') })
  const profile = await run.fetch('/api/event/user/w-5hk3q7d2m9x0c4v8b1n6r2t7ye')
  expect(await profile.json()).toMatchObject({ ok: true, data: { checkins: 1 } })

  const { owner } = (await Bun.file(join(run.dataDir, 'tokens.json')).json()) as { owner: string }
  await docs.getByText('Authentication', { exact: true }).first().click()
  await docs.locator('.apikey input').fill(owner)
  await docs.locator('.apikey button').click()
  await docs.locator('.nav-bar-path', { hasText: 'Read role' }).click()
  await docs.getByRole('button', { name: 'TRY', exact: true }).click()
  await docs.getByText('Response Status: OK:200').waitFor()

  await docs.getByPlaceholder('Filter').fill('dead-letters')
  await docs.getByPlaceholder('Filter').press('Enter')
  const found = ['List dead letters', 'Read dead letter', 'Drop dead letter', 'Requeue dead letter']
  await docs.locator('.nav-bar-path').nth(found.length).waitFor({ state: 'detached' })
  const names = await docs.locator('.nav-bar-path').allInnerTexts()
  expect(names.map((name) => name.replace(/^[A-Z]+\s*/, '')).sort()).toEqual(found.sort())

  expect(faults).toEqual([])
  await page.context().close()
})

test('its dark colours, on a phone, pass the policy, too', async () => {
  const { page, faults } = await openDocs('dark', '', 390)
  await page.locator('rapi-doc').getByText('/api/event/checkin', { exact: true }).click()
  await page.locator('rapi-doc').getByRole('button', { name: 'TRY', exact: true }).waitFor()
  const background = await page.locator('rapi-doc').evaluate((docs) => getComputedStyle(docs).backgroundColor)
  expect(background).toBe('rgb(27, 20, 17)')
  // RapiDoc's own style sheet places it left of the screen.
  const license = await page.locator('rapi-doc').getByText('License: Apache-2.0').boundingBox()
  expect(license!.x).toBeGreaterThan(0)
  expect(faults).toEqual([])
  await page.context().close()
})

test('the page and its script are compressed and kept', async () => {
  const page = await run.fetch('/api/event/docs')
  const html = await page.text()
  expect(page.headers.get('content-security-policy')).not.toContain('unsafe')
  const path = /src="([^"]+)"/.exec(html)![1]!
  const ask = (headers: Record<string, string>) => run.fetch(path, { headers })
  const script = await ask({ 'Accept-Encoding': 'br' })
  expect(script.headers.get('content-encoding')).toBe('br')
  expect(script.headers.get('cache-control')).toContain('immutable')
  const tag = script.headers.get('etag')!
  expect((await ask({ 'Accept-Encoding': 'br', 'If-None-Match': tag })).status).toBe(304)
  const other = await run.fetch('/api/event/docs/rapidoc.js?v=older')
  expect(other.headers.get('cache-control')).toBe('public, no-cache')
})

test('the address without a path says where the documents are', async () => {
  const [index, api] = await Promise.all(
    ['/api/event', '/api'].map(async (path) => (await run.fetch(path)).json()),
  )
  expect(api).toEqual(index)
  const { data } = index as { data: { docs: string; openapi: string } }
  for (const url of [data.docs, data.openapi])
    expect((await run.fetch(new URL(url).pathname)).status).toBe(200)
})

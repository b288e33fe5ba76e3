/**
 * Stored data of the app: in one database, surviving the end of the page or browser, and upgrades from
 * release 1.1.0.
 */
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { newAppId } from '#proxy/pages/walk/recovery/app-id.ts'
import { profileOf } from '#tests/helpers/pilgrim.ts'
import { commandPath } from '#tests/helpers/programs.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { checkInButton, entriesOn, hasKept, keptOn, walkApp } from './walk-harness.ts'

/** Choices of the reader, which are not about the pilgrim. */
const CHOICES = ['event-language', 'event-letters', 'event-theme']

const inLocalStorage = (page: Page): Promise<string[]> => page.evaluate(() => Object.keys(localStorage))

/** A full browser with its own profile, which can be killed. */
async function startBrowser(profile: string) {
  const flags = ['--headless', '--no-sandbox', '--remote-debugging-port=0', '--ignore-certificate-errors']
  const browser = Bun.spawn([commandPath('chromium'), ...flags, `--user-data-dir=${profile}`], {
    stderr: 'pipe',
    stdout: 'ignore',
  })
  let output = ''
  const decoder = new TextDecoder()
  for await (const chunk of browser.stderr) {
    output += decoder.decode(chunk)
    const [, address] = /DevTools listening on (ws:\S+)/.exec(output) ?? []
    if (address !== undefined) {
      const connected = await chromium.connectOverCDP(address)
      return { page: await connected.contexts()[0]!.newPage(), kill: () => browser.kill('SIGKILL') }
    }
  }
  throw new Error(`Chromium has not started: ${output}`)
}

/**
 * Data as left by release 1.1.0: the walk in `localStorage`, and a pending check-in in the first database.
 */
const leaveAs110 = (page: Page, userId: string): Promise<void> =>
  page.evaluate((id) => {
    const at = Date.now() - 60_000
    const values = {
      person: { userId: id, name: 'Old Lin', privacyVersion: '2025-1', known: true },
      profile: null,
      tally: { counted: 7, turn: 3, inDoubt: false },
      'code-safe': true,
      recording: true,
      filter: { last: { t: at, lat: 24.15, lng: 120.67 }, doubted: null, rest: null },
      trail: { userId: id, places: [{ t: at, lat: 24.15, lng: 120.67 }] },
      drafts: { userId: id, name: null, phone: '0912', code: null },
      survey: { q1: 'few' },
      feedback: { category: 'route', text: 'The bridge is' },
      days: {
        userId: id,
        days: { '2025-04-01': { km: 3, checkIns: 1, line: [], stretches: [], checkins: [] } },
      },
    }
    for (const [name, value] of Object.entries(values))
      localStorage.setItem(`event-walk-${name}`, JSON.stringify(value))
    localStorage.setItem('event-language', 'en')
    return new Promise<void>((resolve, reject) => {
      const opening = indexedDB.open('walk', 1)
      opening.onerror = () => reject(opening.error!)
      opening.onupgradeneeded = () => {
        const db = opening.result
        for (const name of ['points', 'rejected'])
          db.createObjectStore(name, { keyPath: ['userId', 'kind', 't'] })
        db.createObjectStore('waits')
      }
      opening.onsuccess = () => {
        const db = opening.result
        const writing = db.transaction('points', 'readwrite')
        const fields = { lat: 24.15, lng: 120.67, accuracy: 8 }
        writing.objectStore('points').add({ userId: id, kind: 'checkin', t: at, fields })
        writing.oncomplete = () => {
          db.close()
          resolve()
        }
      }
    })
  }, userId)

describeOnServers('what the app keeps', () => {
  const app = walkApp()

  test('nothing of a pilgrim is in localStorage, and all of it in one database', async () => {
    await using phone = await app.newPilgrim()
    const { page, userId } = phone
    // Before recording, whose position watch may keep the browser from responding.
    await checkInButton(page).click()
    await page.locator('[data-state=counted]').waitFor()
    await page.getByRole('button', { name: 'Start recording' }).click()
    await page.goto(app.address('#feedback'))
    await page.getByLabel('What happened?').fill('A dog')
    await hasKept(page, 'feedback', 'A dog')
    for (const name of ['person', 'tally', 'trail', 'profile', 'recording', 'config'])
      expect(await keptOn<unknown>(page, name)).toBeDefined()
    expect((await inLocalStorage(page)).filter((name) => !CHOICES.includes(name))).toEqual([])
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(userId)
  })

  test('a browser that is killed after the last letter has kept it', async () => {
    const profile = mkdtempSync(join(tmpdir(), 'walk-kept-'))
    try {
      let before = ''
      for (const letter of ['L', 'i', 'n']) {
        const { page, kill } = await startBrowser(profile)
        await page.goto(app.address('?lang=en'))
        const field = page.getByLabel('Your name')
        await field.waitFor()
        expect(await field.inputValue()).toBe(before)
        await field.press('End')
        await field.press(letter)
        before += letter
        // The letter has left the page; Chromium writes localStorage seconds later.
        await Bun.sleep(300)
        kill()
      }
    } finally {
      rmSync(profile, { recursive: true, force: true })
    }
  })

  test('a phone of release 1.1.0 goes on with its walk, and nothing of it stays behind', async () => {
    await using phone = await app.newPhone()
    const { page, context } = phone
    const userId = newAppId()
    await page.route('**/before', (route) => route.fulfill({ contentType: 'text/html', body: '' }))
    await page.goto(new URL('/before', app.address()).href)
    await leaveAs110(page, userId)
    await context.setOffline(false)
    await page.goto(app.address('#feedback'))
    expect(await page.getByLabel('What happened?').inputValue()).toBe('The bridge is')
    expect(await keptOn<object>(page, 'person')).toMatchObject({ userId, name: 'Old Lin' })
    await until(async () => (await profileOf(app.stack, userId)).checkins === 1, 'the check-in that waited')
    await page.goto(app.address('#me'))
    expect(await page.getByLabel('Phone', { exact: true }).inputValue()).toBe('0912')
    expect(await keptOn<object>(page, 'survey')).toEqual({ q1: 'few' })
    expect(Object.keys((await keptOn<{ days: object }>(page, 'days'))!.days)).toEqual(['2025-04-01'])
    expect((await entriesOn(page)).filter(({ kind }) => kind === 'checkin')).toEqual([])
    expect((await inLocalStorage(page)).filter((name) => !CHOICES.includes(name))).toEqual([])
    await page.reload()
    expect(await keptOn<object>(page, 'person')).toMatchObject({ userId, name: 'Old Lin' })
  })
})

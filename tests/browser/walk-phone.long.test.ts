/** The app's use of the phone over hours: positions, wake lock, storage; and what it keeps when one fails. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'bun:test'
import type { QueuedPoint } from '#shared/client/index.ts'
import { profileOf } from '#tests/helpers/pilgrim.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { callAs } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { photograph, seriousFaults } from './browser.ts'
import { askedOf, look, holdConfig, newRecorder, north } from './phone-watch.ts'
import { fillUp } from './phone-storage.ts'
import { testRest } from './walk-rest.suite.ts'
import { checkInButton, walkApp, hasKept, keptOn } from './walk-harness.ts'
import { type NextRelease, openNextRelease } from './walk-release.ts'

const MINUTE = 60_000

describeOnServers('the phone', () => {
  const app = walkApp({ EVENT_LIMIT_CHECKIN: '1000' })

  const recorder = () => newRecorder(app)

  testRest(recorder)

  test('the screen stays awake while it records, also after another app; dark, it is black and leaves by two touches', async () => {
    await using phone = await recorder()
    const { page } = phone
    const awake = async () => (await askedOf(page)).awake
    const becomes = (number: number) =>
      until(async () => (await awake()) === number, `${number} locks`, { timeoutMs: 5_000 })
    await becomes(1)
    expect((await askedOf(page)).persist).toBe(1)
    await look(page, 'hidden')
    expect(await awake()).toBe(0)
    await look(page, 'visible')
    await becomes(1)

    // The page opens it in its next frame, and axe-core waits: time must advance for both.
    await phone.context.clock.resume()
    await page.getByRole('button', { name: 'Dark screen' }).click()
    const dark = page.locator('dialog.dark-screen')
    await dark.waitFor()
    expect(await dark.evaluate((one) => getComputedStyle(one).backgroundColor)).toBe('rgb(0, 0, 0)')
    expect(await seriousFaults(page)).toEqual([])
    await photograph(page, 'walk-dark-screen')
    await dark.getByText('Recording goes on.').waitFor()
    const shown = () => dark.locator('.dark-time').textContent()
    const before = await shown()
    await phone.context.clock.runFor(MINUTE + 15_000)
    expect(await shown()).not.toBe(before)
    await dark.getByRole('button', { name: 'Touch twice to come back' }).waitFor()
    await page.mouse.click(20, 40)
    // The second tap may come late.
    await Bun.sleep(700)
    expect(await dark.isVisible()).toBe(true)
    await dark.getByRole('button', { name: 'Once more' }).click()
    await dark.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Dark screen' }).click()
    await dark.waitFor()
    await page.keyboard.press('Escape')
    await dark.waitFor({ state: 'hidden' })
    expect(await awake()).toBe(1)
    await page.getByRole('button', { name: 'Stop recording' }).click()
    await becomes(0)
  })

  test('a rough place is said, counts no kilometres, and is a gap in the log', async () => {
    await using phone = await recorder()
    const { page, context, move, arrive } = phone
    await move(31_000)
    await arrive(40)
    for (const metres of [100, 300, 500, 700]) {
      await context.setGeolocation({ ...north(metres), accuracy: 3_000 })
      await move(2 * MINUTE)
    }
    await page.getByText('Only a rough place: no kilometres are counted.').waitFor()
    // Also if it is announced together with other text.
    const records = page.getByText(/^\s*Recording\./)
    expect(await records.count()).toBe(0)
    await arrive(740)
    await records.waitFor()
    await hasKept(page, 'pauses', '"cause":"rough"}]')
  })

  test('a window out of sight leaves the recording to the one in front', async () => {
    await using phone = await recorder()
    const { page, context } = phone
    const other = await context.newPage()
    await other.goto(app.address('?lang=en'))
    await other.getByText('Another window records your walk.').waitFor()
    await look(page, 'hidden')
    await other.getByText('Recording.', { exact: true }).waitFor()
    expect((await askedOf(other)).positions.length).toBeGreaterThan(0)
  })

  test('a window that does not record writes nothing into the log of the one that does', async () => {
    await using phone = await recorder()
    const { page, context, move, arrive } = phone
    await move(31_000)
    await arrive(40)
    const other = await context.newPage()
    await other.goto(app.address('?lang=en'))
    await other.getByText('Another window records your walk.').waitFor()
    await context.setGeolocation(null)
    await look(other, 'hidden')
    await move(4 * MINUTE)
    await arrive(440)
    await hasKept(page, 'pauses', '"cause":"no-signal"}]')
  })

  test('a phone without room says so, and the log has a gap', async () => {
    await using phone = await recorder()
    const { page, context, move, arrive } = phone
    await move(31_000)
    await arrive(40)
    await fillUp(page, true)
    for (const metres of [100, 200, 300]) {
      await context.setGeolocation(north(metres))
      await move(MINUTE)
    }
    await page.getByText('This browser saves nothing.').first().waitFor()
    await page.getByText('Your walk is not recorded.').waitFor()
    await fillUp(page, false)
    await arrive(440)
    await hasKept(page, 'pauses', '"cause":"storage"}]')
  })

  test('no place is recorded that arrives after the stop', async () => {
    await using phone = await recorder()
    const { page, context, move, arrive } = phone
    await move(31_000)
    await arrive(40)
    await page.evaluate(() => {
      const held = window as unknown as { held: PositionCallback | undefined }
      navigator.geolocation.getCurrentPosition = (answer) => void (held.held = answer)
    })
    const asked = () => page.evaluate(() => 'held' in window)
    const rested = async () => {
      await move(10_000)
      return asked()
    }
    await until(rested, 'a question at rest', { timeoutMs: 30_000, everyMs: 1 })
    await page.getByRole('button', { name: 'Stop recording' }).click()
    await page.getByText('Your walk is not recorded.').waitFor()
    const filter = () => keptOn(page, 'filter')
    const before = await filter()
    await page.evaluate((place) => {
      const { held } = window as unknown as { held: PositionCallback }
      const coords = {
        ...place,
        accuracy: 5,
        altitude: null,
        speed: null,
        heading: null,
        altitudeAccuracy: null,
      }
      held({ coords, timestamp: Date.now() } as unknown as GeolocationPosition)
    }, north(900))
    await context.clock.runFor(1_000)
    expect(await filter()).toEqual(before)
  })

  test('the pause log says when nothing was recorded, for how long and why, and recording goes on by itself', async () => {
    await using phone = await recorder()
    const { page, context, move, arrive } = phone
    await move(31_000)
    await arrive(40)
    await look(page, 'hidden')
    await move(10 * MINUTE)
    // The pilgrim looks again: the phone is asked at once.
    await context.setGeolocation(north(400))
    await look(page, 'visible')
    await hasKept(page, 'pauses', '"cause":"hidden"}]')
    await move(31_000)
    await arrive(440)
    await context.setGeolocation(null)
    // The page updates the time every 15 s.
    await move(4 * MINUTE + 15_000)
    await page.getByText('No position for 4 min: no satellite signal.').waitFor()
    await page.getByText('Waiting for a position').waitFor()
    expect(await page.getByText('Recording.', { exact: true }).count()).toBe(0)
    await page.getByRole('button', { name: 'Dark screen' }).click()
    await move(1_000)
    await page.locator('dialog.dark-screen').getByText('Waiting for a position').waitFor()
    await page.keyboard.press('Escape')
    await arrive(700)
    await move(31_000)
    await arrive(740)
    await context.clearPermissions()
    await page.getByText('The phone does not allow the position.').waitFor()
    await move(6 * MINUTE)
    await context.grantPermissions(['geolocation'])
    // Back from the phone's settings.
    await look(page, 'hidden')
    await look(page, 'visible')
    await page.getByText('The phone does not allow the position.').waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Gaps in the recording' }).click()
    await page.getByRole('heading', { name: 'Gaps in the recording' }).waitFor()
    const entries = page.locator('.rows:not(.card) li')
    await entries.first().waitFor()
    const texts = await entries.allTextContents()
    expect(texts.map((text) => text.replace(/^.*, (\d+) min/s, '$1 min: '))).toEqual([
      '6 min: the position was not allowed',
      '4 min: no satellite signal',
      '10 min: the screen was off, or another app was open',
    ])
    await photograph(page, 'walk-pause-log')
  })

  test('what waits can be taken away as GPX', async () => {
    await using phone = await app.newPilgrim()
    const { page, context } = phone
    await context.setOffline(true)
    await checkInButton(page).click()
    await page.locator('[data-state=kept]').waitFor()
    // A minute in a tunnel does not suggest saving a file.
    expect(await page.getByText('Save as a file').isVisible()).toBe(false)
    await page.getByText('More', { exact: true }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as a file (GPX)' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('walk.gpx')
    expect(readFileSync(await download.path(), 'utf8')).toMatch(
      /<wpt lat="24.15" lon="120.67"><time>\d{4}-\d\d-\d\dT[\d:.]+Z<\/time><\/wpt>/,
    )
  })

  test('a newer release in another window takes over: what the older one records meanwhile is kept, too', async () => {
    await using phone = await app.newPilgrim()
    const { page, context, userId } = phone
    await context.setOffline(true)
    await checkInButton(page).click()
    await page.locator('[data-state=kept]').waitFor()
    // The next release of this origin: one schema step more.
    const newer = await openNextRelease(context, app.address())
    const held = (): Promise<number> =>
      newer.evaluate(
        async (id) => (await (globalThis as unknown as NextRelease).store.oldest(id, 'checkin', 9)).length,
        userId,
      )
    expect(await held()).toBe(1)
    const newerInUse = page.getByText('A newer version is in use.')
    await newerInUse.waitFor()
    await photograph(page, 'walk-outdated', true)
    const aside = (number: number) =>
      page.waitForFunction(
        (wanted) => Object.keys(localStorage).filter((key) => key.includes('aside')).length === wanted,
        number,
      )
    await checkInButton(page).click()
    await aside(1)
    // A rolled-back release finds a newer database: it says so, and keeps storing.
    await context.setOffline(false)
    await page.reload()
    await newerInUse.waitFor()
    await checkInButton(page).click()
    await aside(2)
    expect(await held()).toBe(1)
    // With this release's database again, everything is sent once.
    await newer.evaluate(async (id) => {
      const { store, toOldRelease } = globalThis as unknown as NextRelease
      await toOldRelease((await store.oldest(id, 'checkin', 9)) as QueuedPoint[])
    }, userId)
    await page.reload()
    const counted = async () => (await profileOf(app.stack, userId)).checkins === 3
    await until(counted, 'three check-ins')
    await aside(0)
  })

  test('an older release in another window keeps the store from being opened: it is said, and nothing is lost', async () => {
    await using phone = await app.newPilgrim()
    const { page, context, userId } = phone
    await page.goto('about:blank')
    const older = await context.newPage()
    await older.route('**/older', (route) => route.fulfill({ contentType: 'text/html', body: '' }))
    await older.goto(new URL('/older', app.address()).href)
    // It does not close the store when a newer release requests it.
    await older.evaluate(() => void indexedDB.open('walk'))
    // The next release: the same stores, with a higher version.
    await page.addInitScript(() => {
      const open = indexedDB.open.bind(indexedDB)
      indexedDB.open = (name, version) => open(name, version === undefined ? version : version + 1)
    })
    await page.goto(app.address())
    await page.getByText('An older version is open in another window.').waitFor()
    await photograph(page, 'walk-store-blocked', true)
    await older.close()
    await checkInButton(page).click()
    await page.locator('[data-state=counted]').waitFor()
    expect((await profileOf(app.stack, userId)).checkins).toBe(1)
  })

  test('after the event nothing is recorded, and the phone may sleep', async () => {
    await using phone = await recorder()
    const { page, move } = phone
    const late = await holdConfig(app, page)
    const end = await callAs(app.stack, 'owner', 'POST', 'admin/end-activity')
    expect(end.status).toBe(200)
    await page.evaluate(() => void dispatchEvent(new Event('online')))
    await page.getByText('The event has ended, and nothing is recorded any more.').first().waitFor()
    // A response requested before the end arrives after it, and changes nothing.
    await late.arrive()
    await move(MINUTE)
    expect(await checkInButton(page).count()).toBe(0)
    await photograph(page, 'walk-ended', true)
    // A pilgrim is not asked ten questions that would be rejected.
    await page.evaluate(() => (location.hash = '#say'))
    await page.getByText('Closed: the event has ended.').nth(1).waitFor()
    for (const view of ['survey', 'feedback']) {
      await page.evaluate((name) => (location.hash = `#${name}`), view)
      await move(1_000)
      await page.getByRole('main').getByText('Closed: the event has ended.').waitFor()
    }
    await page.evaluate(() => (location.hash = '#walk'))
    await until(async () => (await askedOf(page)).awake === 0, 'no lock', { timeoutMs: 5_000 })
    const { positions } = await askedOf(page)
    await move(10 * MINUTE)
    expect((await askedOf(page)).positions).toEqual(positions)
    // A newcomer sees it first.
    await using newcomer = await app.newPhone()
    await newcomer.page.goto(app.address('?lang=en'))
    await newcomer.page.getByText('The event has ended, and nothing is recorded any more.').waitFor()
    expect(await newcomer.page.getByLabel('Your name').count()).toBe(0)
    await photograph(newcomer.page, 'walk-welcome-ended')
  })
})

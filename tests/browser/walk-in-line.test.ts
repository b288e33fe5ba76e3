/** The app in LINE's own browser, simulated by removing features from Chromium. Open identity. */
import { expect, test } from 'bun:test'
import { words as said } from '#shared/locales/en/walk.ts'
import { profileOf } from '#tests/helpers/pilgrim.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { photograph } from './browser.ts'
import { checkInButton, firstMinute, type Phone, userIdOf, walkApp } from './walk-harness.ts'

const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Safari Line/15.4.0'

describeOnServers('in LINE’s own browser', () => {
  const app = walkApp({ EVENT_LIMIT_CHECKIN: '1000' })

  /** @param isAllowed whether LINE has the position permission */
  const inLine = (isAllowed = true): Promise<Phone> =>
    app.newPhone(
      { userAgent: IPHONE, permissions: isAllowed ? ['geolocation'] : [] },
      async (context) =>
        void (await context.addInitScript(() => {
          for (const [of, name] of [
            [Navigator, 'serviceWorker'],
            [Navigator, 'share'],
            [Navigator, 'canShare'],
            [Navigator, 'wakeLock'],
          ] as const)
            delete (of.prototype as unknown as Record<string, unknown>)[name]
          for (const name of ['PushManager', 'Notification'])
            delete (globalThis as unknown as Record<string, unknown>)[name]
          // LINE's browser does not support downloads.
          HTMLAnchorElement.prototype.click = () => Object.assign(globalThis, { downloaded: true })
        })),
    )

  test('it is said before the first minute, and the walk goes along into the phone’s browser', async () => {
    await using phone = await inLine()
    const { page } = phone
    await page.goto(app.address('?lang=en'))
    await page.getByText(said.status.inLine).waitFor()
    await photograph(page, 'walk-in-line-welcome', true)
    await firstMinute(page, 'Grandmother Wang')
    const userId = await userIdOf(page)
    await checkInButton(page).click()
    await page.locator('[data-state=counted]').waitFor()
    await photograph(page, 'walk-in-line', true)
    const isOutside = ({ search, hash }: URL) =>
      search === '?openExternalBrowser=1' && hash === `#restore=${userId}`
    const opened = page.waitForURL(isOutside)
    await page.getByRole('button', { name: said.status.outsideLineButton }).click()
    await opened

    // The phone's browser opens that URL.
    await using browser = await app.newPhone()
    await browser.page.goto(app.address(`?openExternalBrowser=1#restore=${userId}`))
    await browser.page.getByText('Is this you? Grandmother Wang').waitFor()
    await browser.page.getByRole('button', { name: said.recovery.yes }).click()
    await checkInButton(browser.page).click()
    await until(async () => (await profileOf(app.stack, userId)).checkins === 2, 'both check-ins')
    expect(await browser.page.getByText(said.status.inLine).count()).toBe(0)
  })

  test('what it cannot do says so: files, messages, the position', async () => {
    await using phone = await inLine(false)
    const { page } = phone
    await page.goto(app.address('?lang=en'))
    await firstMinute(page, 'Grandmother Wang')
    await checkInButton(page).click()
    await page.getByText(`Not checked in: ${said.problems.permissionInLine}`).waitFor()
    await photograph(page, 'walk-in-line-no-permission')
    await page.getByRole('button', { name: said.record.start }).click()
    await page.locator('.record').getByText(said.problems.permissionInLine).waitFor()

    await page.evaluate(() => (location.hash = 'data'))
    await page.getByRole('button', { name: said.data.gpx }).click()
    await page.locator('.toast').getByText(said.data.noFiles).waitFor()
    await photograph(page, 'walk-in-line-no-files')
    expect(await page.evaluate(() => 'downloaded' in globalThis)).toBe(false)

    // Sharing too long after the tap fails; a second tap starts it.
    await page.evaluate(() => {
      let asked = 0
      Object.assign(navigator, {
        canShare: () => true,
        async share() {
          if (++asked === 1) throw new DOMException('No touch', 'NotAllowedError')
          Object.assign(globalThis, { shared: true })
        },
      })
    })
    await page.getByRole('button', { name: said.data.gpx }).click()
    await page.locator('.toast').getByRole('button', { name: said.me.save, exact: true }).click()
    await page.waitForFunction(() => 'shared' in globalThis)

    await page.evaluate(() => (location.hash = 'me'))
    await page.getByText(said.status.inLine).waitFor()
    expect(await page.getByRole('button', { name: said.hear.start }).count()).toBe(0)
  })

  test('a walk that LINE has forgotten is brought back by its code', async () => {
    await using phone = await inLine()
    const { page } = phone
    await page.goto(app.address('?lang=en'))
    await firstMinute(page, 'Grandmother Wang')
    await page.evaluate(async () => {
      for (const { name } of await indexedDB.databases()) indexedDB.deleteDatabase(name!)
      localStorage.clear()
    })
    await page.goto('about:blank')
    await page.goto(app.address('?lang=en'))
    await page.getByText(said.status.inLine).waitFor()
    await page.getByRole('button', { name: said.welcome.restore }).click()
    await page.getByText(said.recovery.restoreWhy).waitFor()
  })
})

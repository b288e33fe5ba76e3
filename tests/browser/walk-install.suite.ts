/** The app on an iPhone's Home Screen shares no storage with the browser: its code moves the walk there. */
import { expect, test } from 'bun:test'
import type { BrowserContext } from 'playwright-core'
import { photograph, seriousFaults } from './browser.ts'
import { checkInButton, firstMinute, PLACE, userIdOf, type WalkApp } from './walk-harness.ts'

/** An iPhone, whose browser has no Web Push. `standalone`: the app on the Home Screen. */
const onIphone =
  (standalone: boolean) =>
  async (context: BrowserContext): Promise<void> =>
    void (await context.addInitScript((isStandalone) => {
      Object.defineProperty(navigator, 'standalone', { value: isStandalone })
      Reflect.deleteProperty(globalThis, 'PushManager')
    }, standalone))

export function installTests(app: WalkApp): void {
  test('the walk of the browser is brought to the app on the Home Screen, which asks for its code', async () => {
    await using browser = await app.newPhone(
      { permissions: ['geolocation', 'clipboard-read', 'clipboard-write'] },
      onIphone(false),
    )
    await browser.page.goto(app.address('?lang=en'))
    expect(await browser.page.getByText('Did you begin in the browser?').count()).toBe(0)
    await firstMinute(browser.page, 'Aunt Li')
    await browser.page.goto(app.address('#me'))
    await browser.page.getByText('Install the app').click()
    await browser.page.getByText('When everything here is sent').waitFor()
    expect(await seriousFaults(browser.page)).toEqual([])
    await photograph(browser.page, 'walk-install-iphone', true)
    await browser.page.getByRole('button', { name: 'Copy the words' }).click()
    await browser.page.getByText('Copied.').waitFor()
    const words = await browser.page.evaluate(() => navigator.clipboard.readText())

    // The app on the Home Screen has separate storage.
    await using home = await app.newPhone({}, onIphone(true))
    const { page } = home
    await page.goto(app.address('?lang=en'))
    await page.getByText('Did you begin in the browser?').waitFor()
    expect(await seriousFaults(page)).toEqual([])
    await photograph(page, 'walk-welcome-home-screen', true)
    await page.getByRole('button', { name: 'Restore my walk' }).click()
    await page.getByLabel('Word 1', { exact: true }).fill(words)
    await page.getByRole('button', { name: 'Find my walk' }).click()
    await page.getByRole('button', { name: 'Yes, that is me' }).click()
    await checkInButton(page).waitFor()
    expect(await userIdOf(page)).toBe(await userIdOf(browser.page))
  })

  test('in a browser without a service worker, as LINE’s, nothing says that the app opens without a network', async () => {
    await using phone = await app.newPhone({}, async (context) => {
      await onIphone(false)(context)
      await context.addInitScript(() => Reflect.deleteProperty(Navigator.prototype, 'serviceWorker'))
    })
    const { page } = phone
    await page.goto(app.address('?lang=en'))
    await firstMinute(page, 'Aunt Li')
    await page.goto(app.address('?lang=en#me'))
    await page.getByText('Text size and language').waitFor()
    expect(await page.getByText('without a network').count()).toBe(0)
  })

  test('the tabs say that recording goes on only once there is a position', async () => {
    await using phone = await app.newPilgrim('Aunt Li', { geolocation: { ...PLACE, accuracy: 4_000 } })
    const { page, context } = phone
    await page.getByRole('button', { name: 'Start recording' }).click()
    await page.getByText('Waiting for a position').waitFor()
    expect(await page.getByText('Recording goes on.').count()).toBe(0)
    await context.setGeolocation(PLACE)
    await page.getByText('Recording goes on.').waitFor()
  })
}

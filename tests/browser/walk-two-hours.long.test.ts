/** Two hours on foot with open identity; tests/browser/walk-line.long.test.ts walks them with LINE. */
import { expect, test } from 'bun:test'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { TWO_HOURS_MS, walkTwoHours } from './two-hours.ts'
import { checkInButton, firstMinute, userIdOf, walkApp, worksOffline } from './walk-harness.ts'
import { releaseAgain } from './walk-release.ts'

const SETTINGS = {
  EVENT_NAME: 'Two hours on foot',
  EVENT_LIMIT_CHECKIN: '1000',
  EVENT_LIMIT_SYNC: '1000',
  EVENT_LIMIT_USER_WRITE: '1000',
}

describeOnServers('two hours', () => {
  const app = walkApp(SETTINGS)

  test(
    'of walking end with exactly the km of a plain replay, and with every check-in once',
    () =>
      walkTwoHours(app, {
        async begin(page) {
          await firstMinute(page, 'Walker')
          return userIdOf(page)
        },
        proof: async () => ({}),
      }),
    TWO_HOURS_MS,
  )

  test('a reload after a release opens the kept page, also where the network ends before its scripts', async () => {
    await using phone = await app.newPilgrim()
    const { page, context } = phone
    await worksOffline(page)
    await releaseAgain(app.stack)
    const asked: string[] = []
    await context.route('**/*', (route) => {
      asked.push(new URL(route.request().url()).pathname)
      return route.abort()
    })
    await page.reload()
    await checkInButton(page).waitFor()
    expect(asked.filter((path) => path === '/walk/' || path.startsWith('/assets/walk'))).toEqual([])

    await context.unroute('**/*')
    await page.evaluate(async () => (await navigator.serviceWorker.getRegistration())?.update())
    await page.getByRole('button', { name: 'Use it now' }).click()
    await checkInButton(page).waitFor()
    const scripts = () => page.evaluate(() => [...document.scripts].map(({ src }) => src).join())
    expect(await scripts()).toMatch(/[0-9a-f]{8}\.js/)
  })
})

/** The app with EVENT_IDENTITY=line and LINE's own SDK: in the phone's browser, and in LINE's. */
import { afterAll, afterEach, beforeEach, expect, test } from 'bun:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { profileOf } from '#tests/helpers/pilgrim.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { lineUser } from '#tests/helpers/line-server.ts'
import { callAs } from '#tests/helpers/test-stack.ts'
import { LineLogin } from './line-login.ts'
import { TWO_HOURS_MS, walkTwoHours } from './two-hours.ts'
import {
  checkInButton,
  known,
  type Phone,
  roomOnItsSide,
  waitingOf,
  walkApp,
  worksOffline,
} from './walk-harness.ts'

const HOUR_MS = 3_600_000
const LOG_IN_AGAIN = 'LINE asks you to log in again.'
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Safari Line/15.4.0 LIFF'
const ANDROID =
  'Mozilla/5.0 (Linux; Android 15; SM-A155) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Mobile Safari/537.36'

const line = new LineLogin('', '王阿嬤')
afterAll(() => line[Symbol.dispose]())
const SETTINGS = {
  ...line.settings,
  EVENT_NAME: 'With LINE',
  EVENT_LIMIT_CHECKIN: '1000',
  EVENT_LIMIT_SYNC: '1000',
  EVENT_LIMIT_USER_WRITE: '1000',
}

let people = 0x5000

describeOnServers('with identity by LINE', () => {
  const app = walkApp(SETTINGS)
  beforeEach(() => {
    line.userId = lineUser(++people)
    line.endpointUrl = app.address()
    line.nowMs = Date.now
    line.online = () => true
    for (const noted of [line.unknown, line.violations]) noted.length = 0
    line.logIns = 0
  })
  afterEach(() => expect(line.unknown).toEqual([]))

  const newPhone = (options: BrowserContextOptions = {}): Promise<Phone> =>
    app.newPhone(options, (context) => line.serve(context))
  const counted = (checkins: number) =>
    until(
      async () => (await profileOf(app.stack, line.userId)).checkins === checkins,
      `${checkins} check-ins`,
    )
  const logInAgain = (page: Page) => page.getByRole('button', { name: 'Log in again' })

  /** Registers; LINE already has the name. */
  async function begin(page: Page): Promise<string> {
    await page.getByRole('button', { name: 'Log in with LINE' }).click()
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#name')?.value === '王阿嬤')
    // The log-in's code is removed from the address.
    expect(page.url()).not.toContain('code=')
    await page.getByRole('button', { name: 'I agree' }).click()
    await checkInButton(page).waitFor()
    await known(page)
    return line.userId
  }

  test('log in, walk, and meet the end of the token’s hour: nothing is lost, and the next log-in works, too', async () => {
    await using phone = await newPhone()
    const { page, context } = phone
    await page.goto(app.address('?lang=en'))
    await begin(page)
    expect(await roomOnItsSide(page)).toBeGreaterThan(0)
    await worksOffline(page)
    await checkInButton(page).click()
    await page.locator('[data-state=counted]').waitFor()
    await counted(1)

    line.nowMs = () => Date.now() + HOUR_MS
    await checkInButton(page).click()
    await page.getByText(LOG_IN_AGAIN).first().waitFor()
    // The entry waits for the pilgrim to log in.
    expect(await page.getByText('It is sent by itself.').count()).toBe(0)
    expect(await waitingOf(page)).toBe(1)
    // Offline, the app stays usable, and opens again.
    line.online = () => false
    await context.setOffline(true)
    await logInAgain(page).click()
    await page.locator('.toast').getByText('Not done: no network.').waitFor()
    await page.reload()
    await checkInButton(page).click()
    await page.locator('[data-state=kept]').waitFor()
    expect(await waitingOf(page)).toBe(2)
    line.online = () => true
    await context.setOffline(false)
    await logInAgain(page).click()
    await counted(3)
    expect(line.logIns).toBe(2)
    expect(await page.getByText(LOG_IN_AGAIN).count()).toBe(0)
    // Own data are read with the token.
    await page.goto(app.address('#way'))
    await page.locator('.way-map').waitFor()
    expect(line.violations).toEqual([])
  })

  test('in LINE’s own browser its app gives the tokens, also the next one', async () => {
    await using phone = await newPhone({ userAgent: IPHONE })
    const { page, context } = phone
    // Data that LINE's app gives to its pages.
    await context.addInitScript(() => Object.assign(globalThis, { _liff: { features: [] } }))
    await page.goto((await line.addressInLine()).replace('#', '?lang=en#'))
    await page.getByRole('button', { name: 'I agree' }).click()
    await page.getByText('In the browser this opens without a network').waitFor()
    expect(page.url()).not.toContain('id_token')
    await checkInButton(page).click()
    await counted(1)
    line.nowMs = () => Date.now() + HOUR_MS
    await checkInButton(page).click()
    await logInAgain(page).click()
    await counted(2)
    expect(line.logIns).toBe(2)
    expect(line.violations).toEqual([])
  })

  test('a dialog of LINE’s server that the policy refuses keeps nobody out', async () => {
    await using phone = await newPhone({ userAgent: ANDROID })
    const { page, context } = phone
    // Like LINE's app on Android, which opens a browser after a log-in: a window without history.
    await context.addInitScript(() =>
      Object.defineProperty(History.prototype, 'length', { get: () => 1, configurable: true }),
    )
    await page.goto(app.address('?lang=en&liffClientId=1234567890'))
    await until(() => line.violations.length > 0, 'the dialog’s script')
    expect(line.violations).toEqual([
      'script-src-elem https://static.line-scdn.net/lui/edge/versions/1.13.0/luivendor.js',
    ])
    await begin(page)
  })

  test('LINE’s SDK is there in a dead zone', async () => {
    const worker = await (await app.stack.fetch('/walk/sw.js')).text()
    expect(worker).toContain('/assets/walk-line-sdk-')
  })

  test(
    'two hours end with exactly the km of a plain replay, and with every check-in once',
    async () => {
      await walkTwoHours(app, {
        async prepare(context, { nowMs, offline }) {
          line.nowMs = nowMs
          line.online = () => !offline()
          await line.serve(context)
        },
        begin,
        // The token expires during the event's pause, when nothing is sent. The service reports it
        // afterwards.
        async onPosition(i, page) {
          if (i === 158) await page.reload()
          if (i < 166 || line.logIns > 1 || !(await logInAgain(page).isVisible())) return
          await logInAgain(page).click()
          await until(() => line.logIns === 2, 'the second log-in')
          await page.locator('[data-resting]').waitFor()
        },
        proof: async (userId) => ({
          Authorization: `Bearer ${await line.translate(await line.token(0, userId))}`,
        }),
      })
      expect(line.logIns).toBe(2)
      expect(line.violations).toEqual([])
    },
    TWO_HOURS_MS,
  )

  test('after the end the log-in opens the walk of the account, and an account without one begins none', async () => {
    {
      await using phone = await newPhone()
      await phone.page.goto(app.address('?lang=en'))
      await begin(phone.page)
    }
    const ended = await callAs(app.stack, 'owner', 'POST', 'admin/end-activity')
    expect(ended.status).toBe(200)
    const logIn = async (page: Page) => {
      await page.goto(app.address('?lang=en'))
      await page.getByRole('button', { name: 'Log in with LINE' }).click()
    }
    await using phone = await newPhone()
    await logIn(phone.page)
    await phone.page.getByRole('heading', { name: '王阿嬤' }).waitFor()
    line.userId = lineUser(++people)
    await using stranger = await newPhone()
    await logIn(stranger.page)
    await stranger.page.getByText('This no longer exists.').waitFor()
    expect(await stranger.page.getByRole('button', { name: 'I agree' }).count()).toBe(0)
  })
})

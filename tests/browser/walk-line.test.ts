/** The app with EVENT_IDENTITY=line, in place of LINE's SDK a stand-in whose ID tokens the service verifies. */
import { afterAll, expect, test } from 'bun:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { BrowserContext } from 'playwright-core'
import { profileOf } from '#tests/helpers/pilgrim.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { checkInButton, waitingOf, walkApp } from './walk-harness.ts'

const TEST_MS = 60_000
const CHANNEL = '1234567890'
const USER = `U${'5'.repeat(32)}`
const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }
/** Publishes keys like LINE. */
const line = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.json({ keys: [jwk] }) })
afterAll(() => line.stop(true))

/** @param ageS how long ago LINE signed it; a token lives for an hour */
const tokenOf = (ageS = 0): Promise<string> => {
  const signedAt = Math.floor(Date.now() / 1_000) - ageS
  return new SignJWT({ name: '王阿嬤' })
    .setProtectedHeader({ alg: 'ES256', kid: 'one' })
    .setIssuer('https://access.line.me')
    .setAudience(CHANNEL)
    .setSubject(USER)
    .setIssuedAt(signedAt)
    .setExpirationTime(signedAt + 3_600)
    .sign(privateKey)
}

/** As LINE's SDK: it keeps its token, also an expired one, until somebody logs in again. */
const STAND_IN = `export const openLine = () => ({
  start: async () => undefined,
  token: () => localStorage.getItem('line-token'),
  logIn: () => void signAgain().then((token) => {
    localStorage.setItem('line-token', token)
    location.reload()
  }),
  leaveLine: null,
})`

const inLine = async (context: BrowserContext): Promise<void> => {
  await context.exposeFunction('signAgain', () => tokenOf())
  await context.route('**/assets/walk-line-sdk-*.js', (route) =>
    route.fulfill({ contentType: 'text/javascript', body: STAND_IN }),
  )
}

describeOnServers('with identity by LINE', () => {
  const app = walkApp({
    EVENT_IDENTITY: 'line',
    LINE_LOGIN_CHANNEL_ID: CHANNEL,
    LINE_LIFF_ID: '1234567890-abcdefgh',
    LINE_API_BASE_URL: `http://127.0.0.1:${line.port}`,
  })
  const counted = (checkins: number) =>
    until(async () => (await profileOf(app.stack, USER)).checkins === checkins, {
      timeoutMs: 15_000,
      what: `${checkins} check-ins`,
    })

  test(
    'log in, walk, and meet the end of the token’s hour: nothing is lost',
    async () => {
      await using phone = await app.newPhone({}, inLine)
      const { page } = phone
      await page.goto(app.address('?lang=en'))
      await page.getByRole('button', { name: 'Log in with LINE' }).click()
      // LINE knows the name already.
      await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#name')?.value === '王阿嬤')
      await page.getByRole('button', { name: 'I agree' }).click()
      await checkInButton(page).click()
      await page.locator('[data-state=counted]').waitFor()
      await counted(1)

      await page.evaluate((old) => localStorage.setItem('line-token', old), await tokenOf(3_700))
      await checkInButton(page).click()
      await page.getByText('LINE asks you to log in again.').first().waitFor()
      expect(await waitingOf(page)).toBe(1)
      await page.getByRole('button', { name: 'Log in again' }).click()
      await counted(2)
      await page.waitForFunction(() => !document.body.textContent.includes('LINE asks you to log in again.'))
      // Own data opens with the token.
      await page.goto(app.address('#way'))
      await page.locator('.way-map').waitFor()
    },
    TEST_MS,
  )

  test(
    'LINE’s SDK is loaded only for such an event, and a stranger’s browser never keeps it',
    async () => {
      await using phone = await app.newPhone({}, inLine)
      const { page } = phone
      await page.goto(app.address('?lang=en'))
      await page.getByRole('button', { name: 'Log in with LINE' }).waitFor()
      const worker = await (await app.stack.fetch('/walk/sw.js')).text()
      expect(worker).toContain('/assets/walk-')
      expect(worker).not.toContain('line-sdk')
    },
    TEST_MS,
  )
})

/**
 * Every mode of the app in every language: screen reader output, sizes, and no animation for readers who
 * prefer reduced motion. With `SCREENSHOTS` it takes a picture of each.
 */
import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { MODES, type Mode } from '#proxy/pages/walk/state.ts'
import { appIdOf, BYTES } from '#shared/core/rules/app-id.ts'
import { BuiltInLanguage } from '#shared/contracts/bot.ts'
import { words as said } from '#shared/locales/en/walk.ts'
import { PAGE_WORDS } from '#shared/locales/by-language.ts'
import { post } from '#tests/helpers/pilgrim.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { photograph, seriousFaults } from './browser.ts'
import { newRecorder } from './phone-watch.ts'
import { checkInButton, keptOn, type Phone, type WalkApp, walkApp } from './walk-harness.ts'

/** A phone in a mode, and a sentence of its screen in English. */
interface InMode {
  readonly phone: Phone
  readonly shows: string
}

const ready = async (phone: Phone, shows: string): Promise<InMode> => ({ phone, shows })
/** Makes the app read from the service now. */
const refresh = (page: Page): Promise<unknown> => page.evaluate(() => dispatchEvent(new Event('online')))
const record = (page: Page): Promise<void> => page.getByRole('button', { name: said.record.start }).click()

/** Gives the event this status, as seen by the phone. */
async function withStatus(app: WalkApp, status: 'paused' | 'ended', shows: string): Promise<InMode> {
  const phone = await app.newPilgrim()
  await phone.context.route('**/api/event/config', async (route) => {
    const { data } = (await (await app.stack.fetch('/api/event/config')).json()) as { data: object }
    await route.fulfill({ json: { ok: true, data: { ...data, status, message: 'Thunder at the temple.' } } })
  })
  await refresh(phone.page)
  return ready(phone, shows)
}

const IN_MODE: Readonly<Record<Mode, (app: WalkApp) => Promise<InMode>>> = {
  async opening(app) {
    const phone = await app.newPhone(
      {},
      async (context) =>
        void (await context.addInitScript(() => {
          indexedDB.open = () => {
            throw new DOMException('Private', 'InvalidStateError')
          }
        })),
    )
    await phone.page.goto(app.address())
    return ready(phone, said.problems.storage)
  },
  async restoring(app) {
    const phone = await app.newPhone()
    await phone.page.goto(app.address('#restore'))
    return ready(phone, said.recovery.restoreWhy)
  },
  async 'no-walk'(app) {
    const phone = await app.newPhone()
    await phone.page.goto(app.address())
    return ready(phone, said.welcome.consentTitle)
  },
  async erased(app) {
    const phone = await app.newPilgrim()
    const answer = await post(app.stack, 'me/erase', { user_id: phone.userId, confirm: true })
    expect(answer.status).toBe(200)
    await checkInButton(phone.page).click()
    return ready(phone, said.data.goneTitle)
  },
  async 'signed-out'(app) {
    const phone = await app.newPilgrim()
    await phone.context.route('**/api/event/checkin', (route) =>
      route.fulfill({ status: 401, json: { error: 'No.', code: 'unauthorized' } }),
    )
    await checkInButton(phone.page).click()
    return ready(phone, said.problems.signInButton)
  },
  async 'asking-consent'(app) {
    const phone = await app.newPhone()
    const userId = appIdOf(crypto.getRandomValues(new Uint8Array(BYTES)))
    await post(app.stack, 'user/sync', { user_id: userId, display_name: 'Grandmother Wang' })
    await phone.page.goto(app.address(`#restore=${userId}`))
    await phone.page.getByRole('button', { name: said.recovery.yes }).click()
    return ready(phone, said.welcome.consentHere)
  },
  async refused(app) {
    const phone = await app.newPilgrim()
    const { privacyVersion: version } = (await keptOn<{ privacyVersion: string }>(phone.page, 'person'))!
    await refresh(phone.page)
    await post(app.stack, 'privacy', { user_id: phone.userId, agreed: false, version })
    await refresh(phone.page)
    return ready(phone, said.record.noConsent)
  },
  ended: (app) => withStatus(app, 'ended', said.status.ended),
  paused: (app) => withStatus(app, 'paused', PAGE_WORDS.en.paused),
  async resting(app) {
    const phone = await newRecorder(app)
    for (const metres of [1, 2, 3]) {
      await phone.move(50_000)
      await phone.arrive(metres)
    }
    // axe waits by the page's clock.
    await phone.context.clock.resume()
    return ready(phone, said.record.resting)
  },
  async recording(app) {
    const phone = await app.newPilgrim()
    await record(phone.page)
    return ready(phone, said.record.on)
  },
  async walking(app) {
    return ready(await app.newPilgrim(), said.record.off)
  },
}

const CONTROLS = new Set(
  'button link textbox combobox checkbox radio switch slider tab menuitem DisclosureTriangle'.split(' '),
)

/** The controls that a screen reader finds, as `role name`. */
async function controlsOf(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page)
  const { nodes } = await session.send('Accessibility.getFullAXTree')
  await session.detach()
  return nodes
    .filter(({ ignored, role }) => !ignored && CONTROLS.has(String(role?.value)))
    .map(({ role, name }) => `${role!.value} ${String(name?.value ?? '').trim()}`)
}

/** Elements that move or fade despite reduced motion. */
const moving = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const seconds = (list: string) => Math.max(...list.split(',').map((one) => Number.parseFloat(one)))
    return [...document.querySelectorAll('*')]
      .filter((one) => {
        const style = getComputedStyle(one)
        const fades = style.transitionProperty !== 'none' && seconds(style.transitionDuration) > 0.01
        const moves = style.animationName !== 'none' && seconds(style.animationDuration) > 0.01
        return fades || moves || style.scrollBehavior === 'smooth'
      })
      .map((one) => `${one.tagName} ${one.className}`)
  })

/** Names that are the same in every language. */
const SAME = /^(\S+ )?(繁體|简体|日本語|English|SOS|\d+|Grandmother Wang|Old Chen)?$/

describeOnServers('every mode', () => {
  const app = walkApp({ EVENT_LIMIT_USER_WRITE: '1000' })

  test.each(MODES)('%s reads well, in every language and without motion', async (mode) => {
    const { phone, shows } = await IN_MODE[mode](app)
    await using _ = phone
    const { page } = phone
    await page.getByText(shows).first().waitFor()
    // Otherwise the address would select the language.
    await page.evaluate(() => history.replaceState(null, '', location.pathname + location.hash))
    await page.emulateMedia({ reducedMotion: 'reduce' })
    let english: readonly string[] = []
    for (const language of ['en', ...BuiltInLanguage.options.filter((one) => one !== 'en')]) {
      await page.evaluate((name) => localStorage.setItem('event-language', name), language)
      if (mode === 'opening') await page.reload()
      else await refresh(page)
      await page.locator(`html[lang=${language}]`).waitFor()
      await photograph(page, `mode-${mode}-${language}`, true)
      expect(await seriousFaults(page)).toEqual([])
      const controls = await controlsOf(page)
      expect(controls.filter((control) => /^\S+ ?$/.test(control))).toEqual([])
      // Controls of the same name do the same thing.
      expect(controls.filter((control, i) => controls.indexOf(control) !== i)).toEqual([])
      expect(await moving(page)).toEqual([])
      if (language === 'en') english = controls
      else expect(controls.filter((one) => english.includes(one) && !SAME.test(one))).toEqual([])
    }
  })
})

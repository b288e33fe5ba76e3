/** The pilgrim's input and decisions in the app: survey, report, phone, trackers, links, files, the end. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import postgres from 'postgres'
import { post, profileOf } from '#tests/helpers/pilgrim.ts'
import { checkIn } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { photograph, seriousFaults } from './browser.ts'
import {
  checkInButton,
  firstMinute,
  walkApp,
  type WalkApp,
  known,
  keptOn,
  hasKept,
  allKeptOn,
} from './walk-harness.ts'
import { reportTests } from './walk-report.suite.ts'
import { surveyTests } from './walk-survey.suite.ts'

/**
 * @param page a phone whose pilgrim has consented; afterwards consent is given again, and nothing is recorded
 */
async function stopsWithTheConsent(app: WalkApp, page: Page, userId: string): Promise<void> {
  await page.goto(app.address('#walk'))
  await page.getByRole('button', { name: 'Start recording' }).click()
  await using second = await app.newPhone()
  const other = second.page
  await other.goto(app.address(`?lang=en#restore=${userId}`))
  await other.getByText('Record with one phone only').waitFor()
  await other.getByText('My phone is lost').click()
  await other.getByText('Whoever unlocks it can see your walk').waitFor()
  await other.getByRole('button', { name: 'Yes, that is me' }).click()
  // The walk has been taken to this phone.
  await checkInButton(other).waitFor()
  await other.goto(app.address('?lang=en#data'))
  const withdraw = other.getByRole('button', { name: 'Withdraw my consent' })
  await withdraw.waitFor()
  await second.context.setOffline(true)
  await withdraw.click()
  await other.getByRole('dialog').getByRole('button', { name: 'Withdraw my consent' }).click()
  await other.getByText('Saved on this phone. It is sent by itself.').waitFor()
  await other.getByRole('button', { name: 'I agree again' }).waitFor()
  await second.context.setOffline(false)
  await known(other)
  expect((await profileOf(app.stack, userId)).privacy_agreed).toBe(false)
  await other.goto(app.address('?lang=en#walk'))
  for (const phone of [page, other]) {
    await phone.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await phone.getByText('Nothing is recorded until you agree.').waitFor()
    expect(await phone.getByRole('button', { name: /^(Start|Stop) recording$/ }).count()).toBe(0)
  }
  await page.getByRole('button', { name: 'I agree again' }).click()
  await page.getByRole('button', { name: 'Start recording' }).waitFor()
}

const send = (page: Page): Promise<void> => page.getByRole('button', { name: 'Send', exact: true }).click()

/** Creates a link in the view of the way, and sends it: shared, copied, and copied by hand. */
async function passLinkOn(page: Page, userId: string): Promise<void> {
  // The share sheet opens at once with the new link.
  await page.evaluate(() =>
    Object.defineProperty(navigator, 'share', {
      configurable: true,
      value({ url }: ShareData) {
        document.body.dataset.shared = url
      },
    }),
  )
  await page.getByRole('button', { name: 'Share where I am for 12 hours' }).click()
  await page.getByText('Shows where you are when you record or check in, until').waitFor()
  await page.locator('body[data-shared]').waitFor()
  const url = await page.locator('[data-share] a').getAttribute('href')
  expect(url).not.toContain(userId)
  expect(url).toBe(`${await page.locator('body').getAttribute('data-shared')}#own`)
  // Without it the link is copied. The message covers no button.
  await page.context().grantPermissions(['clipboard-write'])
  await page.evaluate(() =>
    Object.defineProperty(navigator, 'share', { configurable: true, value: undefined }),
  )
  await send(page)
  await page.getByText('Copied. Paste it').waitFor()
  await photograph(page, 'walk-link-copied', true)
  expect(await page.locator('.toast').count()).toBe(0)
  // If the browser can do neither, the link is shown for copying by hand.
  await page.evaluate(() =>
    Object.defineProperty(navigator, 'clipboard', { configurable: true, value: undefined }),
  )
  await send(page)
  await page.getByText('Send this address:').waitFor()
  const address = page.locator('[data-share] code')
  expect(await address.innerText()).toBe(url!.replace('#own', ''))
  // Its background does not cover the sentence before it.
  const covered = await address.evaluate((code) => {
    const sentence = document.createRange()
    sentence.selectNode(code.previousSibling!)
    return sentence.getBoundingClientRect().bottom - code.getBoundingClientRect().top
  })
  expect(covered).toBeLessThanOrEqual(0)
  expect(await page.getByText('Copied. Paste it').count()).toBe(0)
  await photograph(page, 'walk-link-by-hand', true)
}

/** @param page shows “Me” with an unsaved number; afterwards it is saved */
async function removesTheNumber(page: Page, number: string): Promise<void> {
  await page.getByRole('button', { name: 'Save' }).click()
  const remove = page.getByRole('button', { name: 'Remove' })
  await remove.click()
  await page.getByText('Removed.').waitFor()
  await page.getByLabel('Phone', { exact: true }).fill(number)
  await page.keyboard.press('Tab')
  await remove.waitFor()
}

describeOnServers('own matters', () => {
  const app = walkApp()

  surveyTests(app)
  reportTests(app)

  test('phone, consent, participation, a tracker app and a link are set, and taken back', async () => {
    await using phone = await app.newPilgrim()
    const { page, userId } = phone
    await page.goto(app.address('#me'))
    await page.locator('#own-name').fill('Ahua')
    await phone.context.setOffline(true)
    // Leaving a field saves it.
    await page.keyboard.press('Tab')
    await page.getByText('Saved on this phone. It is sent by itself.').waitFor()
    // Even if the app is closed meanwhile; older data of the service replace nothing.
    await phone.context.setOffline(false)
    await page.getByText('Saved.', { exact: true }).waitFor()
    expect((await profileOf(app.stack, userId)).display_name).toBe('Ahua')
    await page.getByLabel('Phone', { exact: true }).fill('12')
    await page.keyboard.press('Tab')
    await page.getByText('Please write 6 to 15 digits.').waitFor()
    await phone.context.setOffline(true)
    await page.getByLabel('Phone', { exact: true }).fill('0912-345-678')
    // Unsaved input stays while the pilgrim is in another view.
    await page.getByLabel('Name', { exact: true }).fill('Grandmother Lin')
    await page.getByRole('link', { name: 'Walk', exact: true }).click()
    await page.getByText('Your walk is not recorded.').waitFor()
    await page.getByRole('link', { name: 'Me', exact: true }).click()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Grandmother Lin')
    await page.getByText('Not saved yet.').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Not done: no network.').waitFor()
    // The number stays, so that pressing again saves it.
    await phone.context.setOffline(false)
    await removesTheNumber(page, '0912-345-678')
    await known(page)
    expect(await page.getByText('Not saved yet.').count()).toBe(0)
    expect((await profileOf(app.stack, userId)).display_name).toBe('Grandmother Lin')
    await page.getByRole('button', { name: 'My data' }).click()
    const withdraw = page.getByRole('button', { name: 'Withdraw my consent' })
    await withdraw.click()
    await page.getByRole('dialog').getByText('Your walk stays').waitFor()
    await photograph(page, 'walk-withdraw-dialog')
    await page.getByRole('button', { name: 'Keep it' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect((await profileOf(app.stack, userId)).privacy_agreed).toBe(true)
    await withdraw.click()
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw my consent' }).click()
    await page.getByText('You have withdrawn your consent.').waitFor()
    await page.getByRole('button', { name: 'I agree again' }).click()
    await page.getByText('You agreed to privacy notice').waitFor()
    await known(page)
    await page.getByText('To record again, start recording').waitFor()
    await page.getByRole('button', { name: 'Pause my participation' }).click()
    await page.getByText('You have paused').waitFor()
    expect(await profileOf(app.stack, userId)).toMatchObject({
      phone: '••••••••••78',
      privacy_agreed: true,
      participant_status: 'withdrawn',
    })
    // The first tab shows it too, and ends the pause.
    await page.goto(app.address('#walk'))
    await page.getByText('Your walk still counts.').waitFor()
    await photograph(page, 'walk-paused')
    await checkInButton(page).click()
    await page.locator('[data-state=counted]').waitFor()
    expect(await profileOf(app.stack, userId)).toMatchObject({
      checkins: 1,
      participant_status: 'withdrawn',
    })
    await page.getByRole('button', { name: 'Take part again' }).click()
    await page.getByText('You have paused').waitFor({ state: 'detached' })
    expect((await profileOf(app.stack, userId)).participant_status).toBe('active')

    await page.goto(app.address('#trackers'))
    await page.getByRole('link', { name: 'Install Traccar Client' }).first().waitFor()
    // One way out, within reach of the thumb.
    expect(await page.getByRole('navigation').innerText()).toStartWith('‹ Back')
    await page.getByRole('button', { name: 'Set it up for me' }).first().click()
    const link = await page.getByRole('link', { name: 'Set up the app' }).getAttribute('href')
    expect(link).toContain('traccar')
    await page.getByText('Nothing received yet.').waitFor()
    await photograph(page, 'walk-tracker-set-up', true)
    // The app sends, and the pilgrim returns to check.
    const ingest = new URL(new URL(link!).searchParams.get('url')!).pathname
    const position = `id=x&lat=24.15&lon=120.67&timestamp=${Math.round(Date.now() / 1_000)}`
    expect((await app.stack.fetch(`${ingest}?${position}`)).status).toBe(200)
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await page.getByText('Last received: ').waitFor()
    await page.getByRole('button', { name: 'Disconnect' }).click()
    await page.getByText('Connected apps').waitFor({ state: 'detached' })
    // A pilgrim who withdraws consent need not think of the apps.
    await page.getByRole('button', { name: 'Set it up for me' }).first().click()
    await page.getByText('Nothing received yet.').waitFor()
    await page.goto(app.address('#data'))
    await withdraw.click()
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw my consent' }).click()
    await page.getByText('You have withdrawn your consent.').waitFor()
    await page.getByRole('button', { name: 'I agree again' }).click()
    await page.getByText('You agreed to privacy notice').waitFor()
    await known(page)
    await page.goto(app.address('#trackers'))
    await page.getByText('Connected apps').waitFor({ state: 'detached' })
    await stopsWithTheConsent(app, page, userId)

    await page.goto(app.address('#way'))
    await page.getByRole('button', { name: 'Share my walk' }).click()
    await passLinkOn(page, userId)
    await page.getByRole('button', { name: 'Stop sharing', exact: true }).click()
    await page.getByText('Stopped. Within half a minute').waitFor()
    await page.getByRole('button', { name: 'Share only my card' }).waitFor()
  })

  test('the data can be taken along, and everything is deleted at the service and on the phone', async () => {
    await using phone = await app.newPilgrim()
    const { page, context, userId } = phone
    await checkInButton(page).click()
    await page.locator('[data-state=counted]').waitFor()
    // Two more phones: one continues the walk, the other still shows the question "Is this you?".
    await using second = await app.newPhone()
    await using third = await app.newPhone()
    const restore = app.address(`?lang=en#restore=${userId}`)
    await Promise.all([second.page.goto(restore), third.page.goto(restore)])
    await third.page.getByText('Is this you?').waitFor()
    await second.page.getByRole('button', { name: 'Yes, that is me' }).click()
    // The service has the consent: it is not asked for again.
    await checkInButton(second.page).waitFor()
    expect(await second.page.getByRole('button', { name: 'I agree' }).count()).toBe(0)
    expect(await keptOn<object>(second.page, 'person')).toMatchObject({
      privacyVersion: (await profileOf(app.stack, userId)).privacy_version,
    })
    await page.goto(app.address('#data'))
    for (const [name, content] of [
      ['Save all my data', '"lat":24.15'],
      ['Save my walk (GPX)', '<wpt lat="24.15"'],
    ] as const) {
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name }).click()
      expect(readFileSync(await (await download).path(), 'utf8')).toContain(content)
    }
    await page.getByRole('button', { name: 'Delete everything about me' }).click()
    await page.getByRole('dialog').waitFor()
    await photograph(page, 'walk-erase-dialog')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Delete everything about me' }).click()
    await context.setOffline(true)
    await page.getByRole('dialog').getByRole('button', { name: 'Delete everything about me' }).click()
    await page.getByRole('dialog').getByText('Not done: no network.').waitFor()
    await context.setOffline(false)
    await page.getByRole('dialog').getByRole('button', { name: 'Delete everything about me' }).click()
    await page.getByText(/Everything about you is deleted|being deleted/).waitFor()
    expect((await app.stack.fetch(`/api/event/user/${userId}`)).status).toBe(404)
    expect(await allKeptOn(page)).not.toContain(userId)

    // The other phones say so, and nobody is registered again.
    await third.page.getByRole('button', { name: 'Yes, that is me' }).click()
    await third.page.getByText('These data were deleted.').waitFor()
    await third.page.getByLabel('Your name').waitFor()
    expect(await allKeptOn(third.page)).not.toContain(userId)
    const other = second.page
    await other.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await other.getByRole('heading', { name: 'Your data were deleted' }).waitFor()
    expect(await checkInButton(other).count()).toBe(0)
    expect(await seriousFaults(other)).toEqual([])
    await photograph(other, 'walk-gone')
    // A point that was still in flight is rejected.
    expect((await checkIn(app.stack, userId)).status).toBe(410)
    await other.getByRole('button', { name: 'Start again' }).click()
    await other.getByText(/Everything about you is deleted|being deleted/).waitFor()
    expect((await app.stack.fetch(`/api/event/user/${userId}`)).status).toBe(404)
    expect(await allKeptOn(other)).not.toContain(userId)
  })

  test.each([false, true])(
    'what waits of somebody who was erased elsewhere is refused, and can be taken along (loaded anew: %p)',
    async (anew) => {
      await using phone = await app.newPilgrim('Lin')
      const { page, context, userId } = phone
      await context.setOffline(true)
      await checkInButton(page).click()
      await page.locator('[data-state=kept]').waitFor()
      if (anew) await page.goto('about:blank')
      expect((await post(app.stack, 'me/erase', { user_id: userId, confirm: true })).ok).toBe(true)
      const answers: number[] = []
      page.on('response', (response) => {
        if (response.request().method() === 'POST') answers.push(response.status())
      })
      await context.setOffline(false)
      if (anew) await page.goto(app.address())
      const gone = page.getByRole('heading', { name: 'Your data were deleted' })
      await gone.waitFor()
      await page.reload()
      await gone.waitFor()
      await page.getByText('1 check-in on this phone.').waitFor()
      // The app's own requests are only reads.
      const asked = new Set<string>()
      page.on('request', (one) => {
        const { pathname } = new URL(one.url())
        if (pathname.startsWith('/api/')) asked.add(`${one.method()} ${pathname.replace(userId, ':id')}`)
      })
      for (let i = 0; i < 3; i++) {
        const read = page.waitForResponse('**/api/event/user/*')
        await page.evaluate(() => dispatchEvent(new Event('online')))
        await read
      }
      expect([...asked].sort()).toEqual(['GET /api/event/config', 'GET /api/event/user/:id'])
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Save as a file (GPX)' }).click()
      expect(readFileSync(await (await download).path(), 'utf8')).toContain('<wpt lat="24.15"')
      expect(new Set(answers)).toEqual(new Set([410]))
      expect((await app.stack.fetch(`/api/event/user/${userId}`)).status).toBe(404)
    },
  )

  test('a consent that was taken back elsewhere before this phone has read it ends the walk here, too', async () => {
    await using phone = await app.newPhone()
    const { page, context } = phone
    const profile = (url: URL) => url.pathname.startsWith('/api/event/user/w-')
    await context.route(profile, (route) => route.abort())
    await page.goto(app.address('?lang=en'))
    await firstMinute(page, 'Old Li')
    const person = await keptOn<{ userId: string; privacyVersion: string }>(page, 'person')
    const { userId, privacyVersion: version } = person!
    const answer = await post(app.stack, 'privacy', { user_id: userId, agreed: false, version })
    expect(answer.status).toBe(200)
    await context.unroute(profile)
    await checkInButton(page).click()
    await page.getByText('Nothing is recorded until you agree.').waitFor()
    await page.getByRole('button', { name: 'I agree again' }).first().click()
    await page.locator('[data-state=counted]').waitFor()
  })

  test('what waits when the consent was taken back elsewhere says so, stays, and is sent after a new consent', async () => {
    await using phone = await app.newPilgrim('Lin')
    const { page, context, userId } = phone
    await context.setOffline(true)
    await checkInButton(page).click()
    await page.locator('[data-state=kept]').waitFor()
    const version = (await keptOn<{ privacyVersion: string }>(page, 'person'))!.privacyVersion
    const taken = await post(app.stack, 'privacy', { user_id: userId, agreed: false, version })
    expect(taken.status).toBe(200)
    await context.setOffline(false)
    const notice = page.locator('[data-waiting="1"]')
    await notice.getByText('It is sent when you agree again.').waitFor()
    expect(await page.getByText('It is sent by itself').count()).toBe(0)
    expect(await checkInButton(page).isDisabled()).toBe(true)
    // Once it is known, not even a touch sends anything.
    const sent: string[] = []
    page.on('request', (one) => void (one.method() === 'POST' && sent.push(new URL(one.url()).pathname)))
    await notice.getByRole('button', { name: 'Send now' }).click()
    await page.getByText('not sent', { exact: false }).first().waitFor()
    expect(sent).toEqual([])
    await page.getByRole('button', { name: 'I agree again' }).click()
    await until(async () => (await profileOf(app.stack, userId)).checkins === 1, 'the check-in that waited')
  })

  test('a service that does not know the pilgrim, as after a restore, is told again, and nothing that waits is lost', async () => {
    await using phone = await app.newPilgrim('Lin')
    const { page, context, userId } = phone
    await context.setOffline(true)
    await checkInButton(page).click()
    await page.locator('[data-state=kept]').waitFor()
    // As in a backup from before the registration: neither the person nor an erasure.
    const sql = postgres(app.stack.databaseUrl, { max: 1 })
    await sql`DELETE FROM consents WHERE user_id = ${userId}`
    await sql`DELETE FROM pilgrims WHERE user_id = ${userId}`
    await sql.end()
    await context.setOffline(false)
    await page.reload()
    await until(async () => {
      const found = await app.stack.fetch(`/api/event/user/${userId}`)
      const { data } = (await found.json()) as { data: { display_name: string; checkins: number } | null }
      return found.ok && data?.display_name === 'Lin' && data.checkins === 1
    }, 'the pilgrim to be known again, with the check-in')
    expect(await page.getByRole('heading', { name: 'Your data were deleted' }).count()).toBe(0)
  })

  test('a phone in sight that has not heard of the erasure sends once at most, and what it sent can be deleted, too', async () => {
    await using phone = await app.newPilgrim('Lin')
    const { page, userId } = phone
    await checkInButton(page).click()
    // The service knew the pilgrim a moment ago.
    await hasKept(page, 'profile', '"checkins":1')
    expect((await post(app.stack, 'me/erase', { user_id: userId, confirm: true })).ok).toBe(true)
    const sent: string[] = []
    page.on('request', (one) => void (one.method() === 'POST' && sent.push(new URL(one.url()).pathname)))
    await checkInButton(page).click()
    await page.getByRole('heading', { name: 'Your data were deleted' }).waitFor()
    expect(sent).toEqual(['/api/event/checkin'])
    await page.getByRole('button', { name: 'Start again' }).click()
    await page.getByText(/Everything about you is deleted|being deleted/).waitFor()
    expect((await app.stack.fetch(`/api/event/user/${userId}`)).status).toBe(404)
  })
})

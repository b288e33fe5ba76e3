/**
 * The console on the real stack: each tier, live updates, two operators, messages, triage, faults, the end.
 */
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres from 'postgres'
import { join } from 'node:path'
import { lineSettings, type LineServer, lineUser, startLineServer } from '#tests/helpers/line-server.ts'
import { post } from '#tests/helpers/pilgrim.ts'
import { newDirectory, startServer } from '#tests/helpers/process.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { openRealTestStack, type RealTestStack } from '#tests/helpers/test-stack-real.ts'
import { admin, checkIn, flushed, newPilgrimId, syncTrack } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { photograph } from './browser.ts'
import { openView } from './console-tour.ts'
import { consoleBrowser, type Page, signIn, tokenOf } from './console-harness.ts'

const browser = consoleBrowser()
/** Errors of the network, which Chromium reports in the console. */
const OUTAGE = /Failed to load resource|ERR_/
const ROOT = join(import.meta.dir, '../..')

const confirm = async (page: Page, button: string): Promise<void> =>
  page.getByRole('dialog').getByRole('button', { name: button, exact: true }).click()

describeOnServers('the console', () => {
  let stack: RealTestStack
  let line: LineServer
  beforeAll(async () => {
    line = startLineServer()
    line.quota = 100
    stack = await openRealTestStack({
      // The tests share their tokens, and make in a minute the calls of several.
      settings: { ...lineSettings(line), EVENT_LIMIT_ADMIN: '90' },
      apart: ['feedback-media', 'admin', 'scheduler'],
    })
  })
  afterAll(async () => {
    await stack?.close()
    await line?.stop()
  })

  test('each tier sees what it may do, and nothing else (long)', async () => {
    const all = ['Now', 'People', 'Reports', 'Feedback', 'Messages', 'Event', 'System']
    const views = { volunteer: ['Now', 'Reports', 'Feedback'], manager: all, owner: all }
    for (const role of ['volunteer', 'manager', 'owner'] as const) {
      await using opened = await browser.console(stack, { role })
      const names = await opened.page.locator('.navigation a').allInnerTexts()
      expect(names.map((name) => name.trim())).toEqual(views[role])
      if (role === 'volunteer') continue
      await opened.page.locator('.navigation a', { hasText: 'System' }).click()
      await opened.page.locator('.roles').waitFor()
      expect(await opened.page.locator('.panel.audit, .panel.tokens').count()).toBe(role === 'owner' ? 2 : 0)
    }
  })

  test('a wrong token is refused in words; the right one stays in the tab, and in no address', async () => {
    await using opened = await browser.open(stack, { path: '/admin/?lang=en', expected: /401/ })
    const { page } = opened
    await page.locator('label', { hasText: 'Colours of the screen' }).locator('select').waitFor()
    await page.locator('#token').fill('wrong-wrong-wrong-wrong')
    await page.keyboard.press('Enter')
    await page.getByText('This token is not valid').waitFor()
    await signIn(page, tokenOf('manager'))
    expect(page.url()).not.toContain('token-of')
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('token-of')
    await page.reload()
    await page.locator('.console').waitFor()
  })

  test('a check-in appears without reloading', async () => {
    await using opened = await browser.console(stack)
    const { page } = opened
    await page.locator('.connection.live').waitFor()
    const before = Date.now()
    const rate = page.locator('.rate.checkins figcaption strong')
    await rate.waitFor()
    // Zero until a ten-second step with a check-in is complete.
    while (!(Number(await rate.innerText()) > 0)) {
      if (Date.now() - before > 20_000) throw new Error('no rate is shown')
      await checkIn(stack, newPilgrimId())
      await page.waitForTimeout(500)
    }
    await photograph(page, 'console-live')
  })

  test('pause: a phone is refused with the message; another operator sees it; resume', async () => {
    await using opened = await browser.console(stack, { view: 'lifecycle', role: 'manager' })
    await using other = await browser.console(stack, { role: 'owner' })
    const { page } = opened
    const message = 'Storm <b>now</b>: stay where you are'
    const volunteer = lineUser(0x8_300_001)
    const setRole = (role: 'volunteer' | null) =>
      post(stack, 'admin/roles', { user_id: volunteer, role }, admin('owner'))
    await checkIn(stack, volunteer)
    expect((await setRole('volunteer')).status).toBe(200)
    await page.getByRole('button', { name: 'Pause…', exact: true }).click()
    await page.locator('textarea[name=message]').fill(message)
    await page.getByText('Volunteers told in LINE at once: 1').waitFor()
    expect((await setRole(null)).status).toBe(200)
    await confirm(page, 'Pause')
    await page.locator('.toast', { hasText: 'Paused · ' }).waitFor()
    await other.page.getByText(message).waitFor()
    await other.page.locator('.rates.stale .badge', { hasText: 'Paused' }).waitFor()
    // Shown as text until it is edited.
    await page.locator('.pause blockquote', { hasText: message }).waitFor()
    expect(await page.locator('.pause textarea').count()).toBe(0)
    await page.getByRole('button', { name: 'Change message' }).click()
    await page.locator('.pause textarea[name=message-en]').fill('Please stay')
    await photograph(page, 'console-pause-languages')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('.pause blockquote', { hasText: 'Please stay' }).waitFor()
    await page.locator('.pause blockquote', { hasText: message }).waitFor()
    // Operators read it in their own language.
    await other.page.locator('.bar-across.paused', { hasText: 'Please stay' }).waitFor()
    await page.getByRole('button', { name: 'Change message' }).click()
    await page.locator('.pause textarea[name=message-en]').fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    // Until the new state is read, the former one is shown: it has the message beside the other.
    await page.locator('.pause blockquote:only-of-type').getByText(message, { exact: true }).waitFor()
    const refused = await checkIn(stack, newPilgrimId())
    expect(refused.status).toBe(403)
    expect(await refused.json()).toMatchObject({ error: message })
    await page.getByRole('button', { name: 'Write to everybody' }).click()
    expect(await page.locator('.compose textarea').inputValue()).toBe(message)
    expect(await page.locator('.compose select').inputValue()).toBe('all')
    await openView(other.page, 'lifecycle')
    await other.page.getByRole('button', { name: 'Resume…', exact: true }).click()
    await confirm(other.page, 'Resume')
    // The unsent text of the pause is not sent after it by mistake.
    await page.waitForFunction(
      () => document.querySelector<HTMLTextAreaElement>('.compose textarea')?.value === '',
    )
    await openView(page, 'lifecycle')
    await page.getByRole('button', { name: 'Write to everybody' }).waitFor()
    expect((await checkIn(stack, newPilgrimId())).status).toBe(202)
    await openView(other.page, 'system')
    for (const action of ['Event paused', 'Event resumed'])
      await other.page.locator('.audit').getByText(action, { exact: true }).first().waitFor()
  })

  test('a message is counted before it is sent; then LINE has it, and the ledger says so (long)', async () => {
    const userId = lineUser(0x8_300_001)
    await checkIn(stack, userId)
    await checkIn(stack, newPilgrimId())
    await flushed(stack)
    await using opened = await browser.console(stack, { view: 'messages' })
    const { page } = opened
    await page.locator('.compose select').selectOption('participants')
    await page.locator('.compose textarea').fill('Water at the next temple')
    // Nothing can be sent before the count arrives.
    const counting = Promise.withResolvers<void>()
    await page.route('**/api/event/push', (route) => counting.promise.then(() => route.continue()), {
      times: 1,
    })
    await page.getByRole('button', { name: 'Send…' }).click()
    const button = page.getByRole('dialog').getByRole('button', { name: 'Send now' })
    expect(await button.isDisabled()).toBe(true)
    counting.resolve()
    await page.getByRole('heading', { name: 'Send to 1 person?' }).waitFor()
    await page.getByText('LINE messages: 1').waitFor()
    await page.getByText('Left this month: 100').waitFor()
    await page.getByText(/^Left out: [1-9]\d* without LINE$/).click()
    await page.locator('.left-out-people', { hasText: 'without LINE' }).waitFor()
    const saving = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Names (CSV)' }).click()
    const names = await readFile(await (await saving).path(), 'utf8')
    expect(names).toMatch(/^\uFEFFuser_id,name,reason,web_push_devices\r\n(?:.+,without LINE,0\r\n)+$/)
    expect(line.received.get(userId) ?? 0).toBe(0)
    await confirm(page, 'Send now')
    await page.locator('.sent', { hasText: 'Water at the next temple' }).waitFor()
    await until(() => (line.received.get(userId) ?? 0) === 1, 'the message at LINE')
    await page.locator('.sent', { hasText: '1 / 1 sent' }).waitFor({ timeout: 20_000 })
    // LINE rejects one of two people: the entry says so, and why.
    const gone = lineUser(0x8_300_002)
    line.gone.add(gone)
    await checkIn(stack, gone)
    const message = { user_ids: [userId, gone], text: 'The next one has shade' }
    const pushed = await post(stack, 'push', message, admin('manager'))
    expect(pushed.ok).toBe(true)
    const failed = page.locator('.sent', { hasText: 'The next one has shade' })
    await failed.filter({ hasText: '1 / 2 sent' }).waitFor({ timeout: 25_000 })
    await failed.getByRole('button', { name: 'Details' }).click()
    await failed.getByText('1 · LINE does not know this account').waitFor()
    await photograph(page, 'console-message-failed')
    await failed.getByTitle(gone).click()
    await page.getByRole('heading', { name: gone }).waitFor()
  })

  test('a dead letter is looked at and requeued', async () => {
    const sql = postgres(stack.databaseUrl, { max: 1 })
    await sql`ALTER TABLE gps_points ADD CONSTRAINT north CHECK (lat > 0) NOT VALID`
    const userId = newPilgrimId()
    await syncTrack(stack, userId, [{ lat: -1, lng: 120, timestamp: Date.now() - 60_000 }])
    await flushed(stack)
    await sql`ALTER TABLE gps_points DROP CONSTRAINT north`
    await sql.end()
    await using opened = await browser.console(stack, { view: 'system' })
    const { page } = opened
    const letter = page.locator('.letter', { hasText: userId })
    await letter.getByRole('button', { name: 'View' }).click()
    await letter.locator('pre').waitFor()
    await letter.getByRole('button', { name: 'Requeue' }).click()
    await page.locator('.toast', { hasText: 'The next flush stores it' }).waitFor()
    // A flush may already have stored it.
    await flushed(stack)
    await letter.waitFor({ state: 'detached', timeout: 25_000 })
  })

  test('a service dies: it is silent; the administration dies: a bar, and it heals; the token is revoked (long)', async () => {
    const token = tokenOf('manager')
    await using opened = await browser.console(stack, { token, expected: OUTAGE })
    const { page } = opened
    await page.getByText('9 parts OK').waitFor()
    // A warning leads to advice, next to the list of all parts.
    await page.getByRole('link', { name: 'Nobody gets alerts' }).click()
    await page.locator('.all-parts .part-list .good').nth(8).waitFor()
    await openView(page, 'now')
    await stack.service('feedback-media').stop('SIGKILL')
    await stack.service('admin').stop('SIGKILL')
    await page.locator('.bar-across.lost').waitFor({ timeout: 20_000 })
    await photograph(page, 'console-lost')
    await stack.service('admin').restart()
    await page.locator('.connection.live').waitFor({ timeout: 40_000 })
    await page.locator('.part-list .danger', { hasText: 'Feedback and cards' }).waitFor({ timeout: 40_000 })
    await page.locator('.alerts .cause', { hasText: 'Read the log of this service' }).waitFor()
    await photograph(page, 'console-silent')
    await stack.service('feedback-media').restart()

    const { port, url } = stack.service('admin')
    await stack.service('admin').stop()
    const other = await startServer({
      name: 'admin',
      command: [process.execPath, join(ROOT, 'services/admin/app.ts')],
      dir: await newDirectory('admin'),
      port,
      url,
      env: {
        ...(stack.settings as Record<string, string>),
        EVENT_MANAGER_TOKEN: 'x:another-token-of-x',
        PORT: `${port}`,
      },
      ready: async () => (await fetch(`${url}/readyz`)).ok,
    })
    await page.getByText('Your token is no longer valid').waitFor({ timeout: 40_000 })
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('token-of')
    await other.close()
    await stack.service('admin').restart()
  }, 150_000)

  test('the end: typed, previewed, and finished although the scheduler was dead (long)', async () => {
    await using opened = await browser.console(stack, { view: 'lifecycle', expected: OUTAGE })
    const { page } = opened
    // A pilgrim who gets the summary by LINE.
    await checkIn(stack, lineUser(0x8_300_003))
    await flushed(stack)
    await stack.service('scheduler').stop('SIGKILL')
    await checkIn(stack, newPilgrimId())
    await page.getByRole('button', { name: 'End the event…' }).click()
    await page.locator('.steps li').first().waitFor()
    await page.getByText(/^Summary to \d/).waitFor()
    await photograph(page, 'console-end-preview')
    await page.getByText(/^Perhaps still walking \(last hour\): [1-9]/).waitFor()
    const end = page.getByRole('dialog').getByRole('button', { name: 'End forever' })
    expect(await end.isDisabled()).toBe(true)
    await page.getByRole('dialog').locator('input').fill('Pilgrimage')
    await end.click()
    await page.locator('.end-progress', { hasText: /points? to store/ }).waitFor({ timeout: 30_000 })
    await photograph(page, 'console-ending')
    await stack.service('scheduler').restart()
    await page.getByText('Complete.').waitFor({ timeout: 60_000 })
    await page.locator('.end-progress').getByRole('button', { name: 'Messages' }).waitFor()
    await page.getByRole('heading', { name: 'The event has ended' }).waitFor()
    await photograph(page, 'console-ended')
    await page.getByRole('link', { name: 'Messages' }).click()
    await page.getByText('Nothing is sent now').waitFor()
    await page.locator('.schedule .rows', { hasText: 'over' }).waitFor()
  }, 120_000)
})

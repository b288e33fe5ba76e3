/** The console while a simulated crowd walks on the real stack, with a second operator, and with faults. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Route } from 'playwright-core'
import { conditionEndpoint } from '#shared/contracts/supervision.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { post } from '#tests/helpers/pilgrim.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { openRealTestStack, type RealTestStack } from '#tests/helpers/test-stack-real.ts'
import { admin, checkIn, flushed, newPilgrimId, type TestStack } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { photograph } from './browser.ts'
import { consoleBrowser, type Page, tokenOf } from './console-harness.ts'
import { expectChartTells } from './console-now.suite.ts'
import { join } from 'node:path'
import { cleanEnvironment } from '#tests/helpers/clean-environment.ts'
import { newDirectory } from '#tests/helpers/process.ts'

const DEMO = join(import.meta.dir, '../tools/crowd/demo.ts')

/** Output of the demo at its end. */
interface DemoSummary {
  readonly code: number
  readonly points: number
  readonly checkIns: number
  /** Failures followed by another attempt, by code. */
  readonly sentAgain: Readonly<Record<string, number>>
  readonly text: string
}

const numberIn = (text: string, pattern: RegExp): number =>
  Number(pattern.exec(text)?.[1]?.replaceAll(',', ''))

/** Starts a simulated crowd. Disposing stops it. */
async function startDemo(stack: TestStack, options: string) {
  const dir = await newDirectory('demo')
  await Bun.write(join(dir, 'ca.pem'), stack.ca)
  const child = Bun.spawn(
    [process.execPath, '--no-env-file', DEMO, '--url', `https://localhost:${stack.port}`].concat(
      ['--ca', join(dir, 'ca.pem')],
      options.split(' '),
    ),
    { cwd: dir, env: { ...cleanEnvironment(), TMPDIR: dir }, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const read = Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return {
    async summary(): Promise<DemoSummary> {
      const [code, out, errors] = await read
      const again = /^sent again +(.*)$/m.exec(out)?.[1] ?? ''
      const counts = again.matchAll(/([a-z-]+) ([\d,]+)/g)
      return {
        code,
        points: numberIn(out, /measured, ([\d,]+) stored/),
        checkIns: numberIn(out, /\(([\d,]+) check-ins\)/),
        sentAgain: Object.fromEntries(
          [...counts].map(([, name, n]) => [name, Number(n!.replaceAll(',', ''))]),
        ),
        text: `${out}\n${errors}`,
      }
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

const browser = consoleBrowser()
const STORM = 'Storm over Tongxiao: stay where you are'
/** Rate limit of a token in ten seconds, so that an exhausted token soon recovers. */
const CALLS = 30

const tile = async (page: Page, label: string): Promise<number> => {
  const text = await page.locator('.tile', { hasText: label }).locator('.figure').innerText()
  return text === '–' ? Number.NaN : Number(text.replaceAll(',', ''))
}

/** Number of pilgrims on the map, from its label for screen readers. */
const onMap = async (page: Page): Promise<number> =>
  Number(/^(\d+) pilgrims?/.exec((await page.locator('section.map').getAttribute('aria-label')) ?? '')?.[1])

describeOnServers('the console in operation', () => {
  let stack: RealTestStack
  beforeAll(async () => {
    stack = await openRealTestStack({
      settings: {
        EVENT_LIMIT_CHECKIN: '1000',
        EVENT_LIMIT_SYNC: '1000',
        EVENT_LIMIT_ADMIN: String(CALLS),
        EVENT_LIMIT_ADMIN_SECONDS: '10',
      },
    })
  })
  afterAll(async () => stack?.close())

  const setStatus = (body: object) =>
    stack.fetch('/api/event/admin/status', {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json', ...admin('owner') },
      body: JSON.stringify(body),
    })

  test('a crowd walks: figures move without reloading, a pause reaches its phones, nothing is lost', async () => {
    await using opened = await browser.console(stack)
    const { page } = opened
    await page.locator('.connection.live').waitFor()
    const loadedAt = await page.evaluate(() => performance.timeOrigin)
    await using demo = await startDemo(
      stack,
      `--token ${tokenOf('volunteer')} --pilgrims 30 --seed 3 --speed 600 --points 6000 --points-only`,
    )
    const condition = async () =>
      dataOf(
        await stack.fetch('/api/event/admin/condition', { headers: admin('manager') }),
        conditionEndpoint,
      )
    const stored = async () => (await condition()).ledger?.stored
    // Rejected phones back off, and the map is read every 30 s.
    const wait = { timeoutMs: 120_000, everyMs: 1_000 }
    const early = await until(async () => (await stored()) || 0, 'points', wait)
    expect((await setStatus({ status: 'paused', message: STORM })).status).toBe(200)
    await page.locator('.bar-across.paused', { hasText: STORM }).waitFor()
    const refused = await checkIn(stack, newPilgrimId())
    expect([refused.status, await refused.json()]).toMatchObject([403, { error: STORM }])
    await photograph(page, 'console-crowd-paused')
    expect((await setStatus({ status: 'active' })).status).toBe(200)
    await page.locator('.bar-across.paused').waitFor({ state: 'detached' })

    await until(async () => (await onMap(page)) > 0, 'the crowd on the map', wait)
    const rate = page.locator('.rate.checkins figcaption strong')
    await until(async () => Number(await rate.innerText()) > 0, 'a rate', wait)
    const { code, points, sentAgain, text } = await demo.summary()
    expect({ code, text }).toEqual({ code: 0, text: expect.stringContaining('measured') })
    // Phones were rejected during the pause, kept their points, and sent them again.
    expect(sentAgain.paused).toBeGreaterThan(0)
    expect(points).toBeGreaterThan(early)
    await flushed(stack)
    await until(async () => (await stored()) === points, `the ${points} points that the demo has sent`, wait)
    await until(async () => (await tile(page, 'Points waiting')) === 0, 'nothing to wait', wait)
    const { lost, dead_letter: deadLetters } = (await condition()).ledger!
    expect({ lost, deadLetters }).toEqual({ lost: 0, deadLetters: 0 })
    await expectChartTells(page)
    // The map was not moved, so it also shows pilgrims who are far from all others.
    const before = await onMap(page)
    expect((await checkIn(stack, newPilgrimId(), { lat: 22.63, lng: 120.3 })).status).toBe(202)
    await flushed(stack)
    await until(async () => (await onMap(page)) > before, 'the far one on the map', wait)
    expect(await page.evaluate(() => performance.timeOrigin)).toBe(loadedAt)
    await photograph(page, 'console-crowd')
    // The console's largest response is compressed.
    const headers = { ...admin('volunteer'), 'Accept-Encoding': 'gzip' }
    const url = `https://localhost:${stack.port}/api/event/admin/clusters`
    const cells = await fetch(url, { headers, tls: { ca: stack.ca }, decompress: false })
    expect(cells.headers.get('content-encoding')).toBe('gzip')
  }, 300_000)

  test('streams fail: the console asks every ten seconds, says so, and goes back to the stream', async () => {
    await using opened = await browser.open(stack, {
      path: '/admin/?lang=en#/now',
      expected: /Failed to load resource|ERR_FAILED/,
    })
    const { page } = opened
    await page.route('**/api/event/admin/stream*', (route) => route.abort())
    await page.locator('#token').fill(tokenOf('manager'))
    await page.keyboard.press('Enter')
    await page.locator('.bar-across', { hasText: 'The live stream is interrupted' }).waitFor()
    expect(await page.locator('.connection').innerText()).toContain('Every 10 s')
    // Live data still arrive.
    await setStatus({ status: 'paused', message: STORM })
    await page.locator('.bar-across.paused', { hasText: STORM }).waitFor()
    await photograph(page, 'console-polling')
    await page.unroute('**/api/event/admin/stream*')
    await page.locator('.connection.live').waitFor({ timeout: 60_000 })
    await page
      .locator('.bar-across', { hasText: 'The live stream is interrupted' })
      .waitFor({ state: 'detached' })
    await setStatus({ status: 'active' })
    await page.locator('.bar-across.paused').waitFor({ state: 'detached' })
  }, 120_000)

  test('something in between refuses the stream for good: the console asks every ten seconds all the same', async () => {
    await using opened = await browser.open(stack, {
      path: '/admin/?lang=en#/now',
      expected: /status of 403/,
    })
    const { page } = opened
    const filtered = { status: 403, contentType: 'text/html', body: '<p>Blocked by the filter.</p>' }
    await page.route('**/api/event/admin/stream*', (route) => route.fulfill(filtered))
    await page.locator('#token').fill(tokenOf('manager'))
    await page.keyboard.press('Enter')
    await page.locator('.bar-across', { hasText: 'The live stream is interrupted' }).waitFor()
    expect(await page.locator('.connection').innerText()).toContain('Every 10 s')
    await setStatus({ status: 'paused', message: STORM })
    await page.locator('.bar-across.paused', { hasText: STORM }).waitFor()
    await setStatus({ status: 'active' })
    await page.locator('.bar-across.paused').waitFor({ state: 'detached' })
  }, 120_000)

  test('a token that has used up its calls: the console says how long it waits, and goes on by itself', async () => {
    const token = tokenOf('manager')
    await using opened = await browser.console(stack, { token, expected: /429/ })
    const { page } = opened
    await page.locator('.parts').waitFor()
    const useUp = async () => {
      for (let status = 200; status !== 429;)
        ({ status } = await stack.fetch('/api/event/auth/role', { headers: { 'X-Admin-Token': token } }))
    }
    await useUp()
    await page.locator('.navigation a', { hasText: 'Reports' }).click()
    const notice = page.locator('.bar-across.waits', {
      hasText: /Too many requests\. Continues in \d+ s/,
    })
    await notice.waitFor()
    await page
      .locator('.panel .waits', { hasText: /Continues in \d+ s/ })
      .first()
      .waitFor()
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
    // Figures read earlier stay.
    await page.locator('.navigation a', { hasText: 'Now' }).click()
    await page.locator('.parts').waitFor()
    await photograph(page, 'console-rate-limited')
    await page.locator('.navigation a', { hasText: 'Reports' }).click()
    // The footprint has figures even without points.
    await page.locator('.panel.headline:not(.stale) .tile').first().waitFor({ timeout: 40_000 })
    await notice.waitFor({ state: 'detached', timeout: 40_000 })
    // A confirmation explains the wait in one sentence, and recovers as well.
    await page.locator('.navigation a', { hasText: 'Event' }).click()
    await page.locator('.panel.pause .state-line').waitFor()
    const useUpFirst = (route: Route) => useUp().then(() => route.continue())
    await page.route('**/api/event/admin/end-activity', useUpFirst, { times: 1 })
    await page.getByRole('button', { name: 'End the event…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog
      .filter({ has: page.locator('.waits', { hasText: /Continues in \d+ s/ }) })
      .filter({ hasNotText: /Loading…|Too many.*Too many/s })
      .waitFor()
    await photograph(page, 'console-end-waits')
    await dialog.locator('.steps li').first().waitFor({ timeout: 40_000 })
    await dialog.getByText('Too many requests').waitFor({ state: 'detached', timeout: 40_000 })
  }, 120_000)

  test('two operators triage: each sees the other, and who is slower is told and overwrites nothing', async () => {
    const submitted = async (description: string) => {
      const answer = await post(stack, 'feedback', { category: 'app', description })
      return ((await answer.json()) as { data: { id: number } }).data.id
    }
    const id = await submitted('The map is blank')
    await using one = await browser.console(stack, { view: 'feedback', role: 'manager' })
    await using two = await browser.console(stack, { view: 'feedback', role: 'owner', expected: /409/ })
    const card = (page: Page, status: string) =>
      page.locator(`.column.${status} .feedback-card`, { hasText: `#${id} ` })
    for (const { page } of [one, two]) await card(page, 'new').click()
    // The second operator has not reloaded the list since.
    await one.page.keyboard.press('2')
    await card(one.page, 'triaging').click()
    await two.page.keyboard.press('5')
    await two.page.getByText('Look at how it is now.').waitFor()
    await card(two.page, 'triaging').waitFor()
    await photograph(two.page, 'console-conflict')

    await one.page.locator('#feedback-note').fill('Asked for the phone')
    await two.page.locator('#feedback-note').fill('Known: an old browser')
    await one.page.getByRole('button', { name: 'Save' }).click()
    await one.page.getByText('Note saved.').waitFor()
    await two.page.getByRole('button', { name: 'Save' }).click()
    await two.page.getByText('Somebody else wrote: “Asked for the phone”').waitFor()
    expect(await two.page.locator('#feedback-note').inputValue()).toBe('Known: an old browser')
    await photograph(two.page, 'console-note-conflict')
    await two.page.getByRole('button', { name: 'Save' }).click()
    await two.page.getByText('Note saved.').waitFor()
    await until(
      async () => (await one.page.locator('#feedback-note').inputValue()) === 'Known: an old browser',
      'the other operator to see the note',
      { timeoutMs: 25_000 },
    )
  }, 90_000)

  test('more feedback than a page: all of it is reached, and the columns say how much there is', async () => {
    const more = 120
    const send = (i: number) =>
      post(stack, 'feedback', { user_id: newPilgrimId(), category: 'app', description: `Report ${i}.` })
    // One item leaves the column New, whatever was there before.
    const { data } = (await (await send(more)).json()) as { data: { id: number } }
    const triaged = await stack.fetch(`/api/event/feedback/${data.id}`, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json', ...admin('manager') },
      body: JSON.stringify({ status: 'triaging', seen: { status: 'new' } }),
    })
    expect(triaged.status).toBe(200)
    for (let i = 0; i < more; i += 20) await Promise.all(Array.from({ length: 20 }, (_, n) => send(i + n)))
    await using opened = await browser.console(stack, { view: 'feedback', role: 'volunteer' })
    const { page } = opened
    await page.locator('.column.new h3', { hasText: `25 / ${more}` }).waitFor()
    const shown = () => page.locator('.feedback-text').allInnerTexts()
    for (let i = 0; i < 3; i++) await page.getByRole('button', { name: 'Show more' }).click()
    const first = await shown()
    await page.locator('.pages', { hasText: /^1–100 of 12\d/ }).waitFor()
    await page.getByRole('button', { name: 'Next', exact: true }).click()
    await page.locator('.pages', { hasText: /^101–(12\d) of \1/ }).waitFor()
    await page.locator('.column.new h3', { hasText: `20 / ${more}` }).waitFor()
    const all = [...first, ...(await shown())].filter(
      (text) => text.startsWith('Report ') && text !== `Report ${more}.`,
    )
    expect(new Set(all).size).toBe(more)
    await page.getByText('Filter · Keys').click()
    await page.getByLabel('Status').selectOption('triaging')
    // The previous page stays until the next one arrives.
    await page.locator('.column.new .feedback-card').first().waitFor({ state: 'detached' })
    await page.locator('.column.triaging .feedback-card', { hasText: `#${data.id} ` }).waitFor()
  })

  test('one of two replicas dies: the part is degraded, with what to do; it comes back', async () => {
    await using opened = await browser.console(stack)
    const { page } = opened
    const part = page.locator('.part-list .warning', { hasText: 'Check-ins and tracks' })
    await page.getByText('9 parts OK').waitFor()
    await stack.service('tracking', 1).stop('SIGKILL')
    await part.waitFor({ timeout: 45_000 })
    expect(await part.innerText()).toContain('1 / 2 processes')
    await page.locator('.alerts .cause', { hasText: '1 of 2 processes of tracking do not report' }).waitFor()
    await photograph(page, 'console-degraded')
    expect((await checkIn(stack, newPilgrimId())).status).toBe(202)
    await stack.service('tracking', 1).restart()
    await page.getByText('9 parts OK').waitFor({ timeout: 25_000 })
    // Stopping a replica gracefully is not a fault.
    await stack.service('tracking', 1).stop()
    const tracking = async () => {
      const answer = await stack.fetch('/api/event/admin/condition', { headers: admin('manager') })
      const { parts } = await dataOf(answer, conditionEndpoint)
      return parts.find(({ name }) => name === 'tracking')
    }
    const isAlone = async () => (await tracking())!.processes!.running === 1
    await until(isAlone, 'the replica to be off the list', { everyMs: 500 })
    expect(await tracking()).toMatchObject({ state: 'ok', processes: { running: 1, silent: 0 } })
    await stack.service('tracking', 1).restart()
  }, 120_000)
})

/** Counts of work for people: new reports and silent pilgrims. */
import { expect, test } from 'bun:test'
import { post } from '#tests/helpers/pilgrim.ts'
import { flushed, newAppId, syncTrack, type TestStack } from '#tests/helpers/test-stack.ts'
import { type OpenPage, photograph } from './browser.ts'
import { pilgrimId } from './console-data.ts'
import type { ConsoleOptions } from './console-harness.ts'

/** An app id, so that the pilgrim can become the palanquin. */
const SILENT_ID = newAppId()
const GONE_ID = pilgrimId(901)
const HOUR_MS = 3_600_000

/** @param open opens the console of an event filled by `fillEvent` */
export function silentTests(
  stack: () => TestStack,
  open: (options: ConsoleOptions) => Promise<OpenPage>,
): void {
  test('new reports and silent pilgrims are counted in the navigation, and are found in their lists', async () => {
    // Eleven kilometres in a quarter of an hour: by bus.
    const at = (hours: number, lat: number) => ({ lat, lng: 120.55, timestamp: Date.now() - hours * HOUR_MS })
    const track = [at(4.5, 24.05), at(4.25, 24.15)]
    expect((await syncTrack(stack(), SILENT_ID, track)).status).toBe(200)
    // A pilgrim last seen the day before is neither counted nor listed.
    expect((await syncTrack(stack(), GONE_ID, [at(30, 24.05)])).status).toBe(200)
    await flushed(stack())
    await using opened = await open({ view: 'now' })
    const { page } = opened
    const silent = page.locator('nav').getByRole('link', { name: '1 Silent for 3–24 h' })
    await silent.waitFor()
    expect((await opened.fetched()).filter(({ path }) => path.includes('/last-hour'))).toHaveLength(1)
    await page.locator('nav a', { hasText: /Feedback\s*[1-9]\d* new/ }).waitFor()
    // The count leads to the pilgrims it includes.
    await silent.press('Enter')
    await page.locator('.people-list').getByText('1–1 of 1').first().waitFor()
    await page.locator('.people-list').getByText('silent for 4 hr').waitFor()
    expect(await page.locator('.people-list option:checked').innerText()).toBe('Silent for 3–24 h')
    await page.locator('.people-list select').selectOption({ label: 'Silent for ≥ 24 h' })
    await page.locator('.people-list').getByText(GONE_ID.slice(0, 6)).first().waitFor()
    await silent.click()
    await page.locator('.people-list').getByText('1–1 of 1').first().waitFor()
    await page.locator('.name-button').click()
    await page.getByText('Reason unknown. A silent phone keeps recording.').waitFor()
    await page
      .locator('.person')
      .getByText(/Bus \d.* km/)
      .waitFor()
    await photograph(page, 'console-silent-people')
    // A role does not look like access rights, and a mistake can be undone.
    await page.getByRole('button', { name: 'About' }).click()
    const role = page.locator('.person-actions').getByLabel('Role')
    await role.selectOption('volunteer')
    await page.locator('.person-actions').getByRole('button', { name: 'Save' }).click()
    await page.getByText('Role: Volunteer').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Role: no role').waitFor()
    expect(await role.inputValue()).toBe('')
    // The console explains what the public map shows from now on.
    for (const [button, notice] of [
      ['Show as “Palanquin”', 'The public map shows everybody'],
      ['Stop showing as “Palanquin”', 'The public map no longer shows'],
    ] as const) {
      await page.getByRole('button', { name: 'Palanquin…' }).click()
      await page.getByRole('dialog').getByRole('button', { name: button, exact: true }).click()
      await page.locator('.toast', { hasText: notice }).waitFor()
    }
    // A pilgrim seen recently appears again in the list of everyone.
    await page.locator('.people-list select').selectOption({ label: 'Everybody' })
    await page.locator('.people-list').getByText('1–32 of 32').first().waitFor()
    await page.locator('.people-list').getByText('silent for 4 hr').waitFor()
    // A pilgrim with a tracker is found without knowing the name.
    expect((await post(stack(), 'trackers', { user_id: SILENT_ID, label: 'Old phone' })).status).toBe(200)
    await page.locator('.people-list select').selectOption({ label: 'With tracker or link' })
    await page.locator('.people-list').getByText('1–1 of 1').first().waitFor()
    // The pilgrim was read before the tracker was created.
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('button', { name: 'Read again' }).click()
    await page.getByRole('button', { name: 'About' }).click()
    await page.locator('.person .rows').getByText('Old phone').first().waitFor()
    await page.getByRole('button', { name: 'Revoke…', exact: true }).click()
    await page.getByText('Its points are refused from then on.').waitFor()
    await photograph(page, 'console-revoke')
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click()
    await page.locator('.people-list').getByText('None.').waitFor()
    await page.locator('nav').getByText('Feedback').click()
    await page.locator('.feedback-card svg.icon').first().waitFor()
    // Ending the event shows how many pilgrims are silent.
    await page.locator('nav').getByText('Event').click()
    // The status was never changed, so no time is shown.
    expect((await page.locator('.state-line').innerText()).trim()).toBe('Active')
    await page.getByRole('button', { name: 'End the event…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Silent pilgrims: 1' }).waitFor()
  })

  test('a palanquin whose device reports nothing is grey, and the operator is told', async () => {
    await using opened = await open({
      view: 'now',
      before: async (page) => {
        await page.route('**/api/event/map*', async (route) => {
          const { pathname, origin } = new URL(route.request().url())
          const response = await route.fetch({ url: `${origin}${pathname}` })
          const answer = (await response.json()) as { data: { as_of: string; palanquin: object } }
          const seenAt = new Date(Date.parse(answer.data.as_of) - HOUR_MS).toISOString()
          answer.data.palanquin = { lat: 24.2, lng: 120.55, route_km: null, station: null, seen_at: seenAt }
          await route.fulfill({ response, json: answer })
        })
      },
    })
    const { page } = opened
    await page.getByText(/Palanquin: the device has reported nothing since \d\d:\d\d/).waitFor()
    await page.locator('.map[data-palanquin="silent"] .marker-palanquin svg').waitFor()
    await photograph(page, 'console-silent-palanquin')
  })

  test('what is told of a pilgrim is old after a minute, and is read again when asked for', async () => {
    await using opened = await open({ view: 'people' })
    const { page } = opened
    await page.locator('.name-button').first().click()
    const panel = page.locator('.person')
    await panel.getByText('Views are logged.').waitFor()
    expect(await panel.locator('.stamp.old').count()).toBe(0)
    await page.clock.install()
    await page.clock.fastForward(61_000)
    await panel.locator('.stamp.old').first().waitFor()
    await photograph(page, 'console-person-old')
    await panel.getByRole('button', { name: 'Read again' }).click()
    await panel.locator('.stamp.old').waitFor({ state: 'detached' })
    // A list inside the panel is read separately.
    await panel.getByText('Messages', { exact: true }).click()
    await panel.locator('.inner li').first().waitFor()
    await page.clock.fastForward(61_000)
    const again = panel.locator('.inner').getByRole('button', { name: 'Read again' })
    await again.click()
    await again.waitFor({ state: 'detached' })
  })
}

/** How often a phone at rest is asked for a position. */
import { expect, test } from 'bun:test'
import { until } from '#tests/helpers/wait.ts'
import { askedOf, north, type Recorder } from './phone-watch.ts'
import { checkInButton } from './walk-harness.ts'

const MINUTE = 60_000

export function testRest(recorder: () => Promise<Recorder>): void {
  test('at rest it is asked for a position once in 30 s, until the pilgrim walks on', async () => {
    await using phone = await recorder()
    const { page, context, move, arrive } = phone
    const asked = async () => (await askedOf(page)).positions
    expect(await asked()).toHaveLength(1)
    for (const metres of [1, 2, 3]) {
      // Before the phone is asked because no position arrived.
      await move(50_000)
      await arrive(metres)
    }
    await page.locator('[data-resting=true]').waitFor()
    // In small steps, so that the phone can respond in between.
    const twentyTimes = async () => {
      await move(10_000)
      return (await asked()).length > 21
    }
    await until(twentyTimes, 'twenty positions at rest', { timeoutMs: 30_000, everyMs: 1 })
    const times = (await asked()).slice(1)
    const gaps = times.slice(1).map((t, i) => t - times[i]!)
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(30_000)
    await context.setGeolocation(north(300))
    const walks = async () => {
      await move(10_000)
      return (await page.locator('[data-resting=false]').count()) > 0
    }
    await until(walks, 'the pilgrim to walk on', { timeoutMs: 30_000, everyMs: 1 })
  })

  test('at rest, a phone that never answers is watched again', async () => {
    await using phone = await recorder()
    const { page, move, arrive } = phone
    for (const metres of [1, 2, 3]) {
      await move(50_000)
      await arrive(metres)
    }
    await page.locator('[data-resting=true]').waitFor()
    await page.evaluate(() => (navigator.geolocation.getCurrentPosition = () => undefined))
    const walks = async () => {
      await move(10_000)
      return (await page.locator('[data-resting=false]').count()) > 0
    }
    await until(walks, 'the next watch', { timeoutMs: 30_000, everyMs: 1 })
  })

  test('who sits still is asked for a position after a minute, and no signal is missing', async () => {
    await using phone = await recorder()
    const { page, move } = phone
    for (const times of [2, 3]) {
      await move(MINUTE + 5_000)
      await until(async () => (await askedOf(page)).positions.length === times, `request ${times}`)
      // The page updates the time every 15 s.
      await move(20_000)
      expect(await page.getByText('No position for').count()).toBe(0)
      expect(await page.locator('.dot.bad').count()).toBe(0)
    }
  })

  test('who sits still checks in, although the watch reports no position any more', async () => {
    await using phone = await recorder()
    const { page, move } = phone
    await page.getByText('Recording.', { exact: true }).waitFor()
    // The last position is too old for a check-in.
    await move(20_000)
    await checkInButton(page).click()
    await page.locator('.check-in-said [data-state]').waitFor()
    await page.getByText('Recording.', { exact: true }).waitFor()
  })
}

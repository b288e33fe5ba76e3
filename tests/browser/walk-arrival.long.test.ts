/**
 * The pilgrim's arrival times: every view of the app shows the same, even on a phone that has recorded
 * nothing.
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { trackSyncEndpoint } from '#shared/contracts/tracking.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { syncTrack } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { checkInButton, walkApp } from './walk-harness.ts'

const MINUTE_MS = 60_000
const ROUTE = join(import.meta.dir, '../tools/crowd/route.geojson')
/** On the route, a kilometre before its second station. */
const HERE = { latitude: 24.5477, longitude: 120.6986, accuracy: 8 }

describeOnServers('arrival', () => {
  const app = walkApp({ EVENT_ROUTE: ROUTE })

  test('a walk that another phone has recorded gives both tabs the same time', async () => {
    await using phone = await app.newPilgrim('Lin', { geolocation: HERE })
    const { page, userId } = phone
    // Forty minutes at 5 km/h.
    const way = Array.from({ length: 41 }, (_, i) => ({
      lat: HERE.latitude + 0.00068 * (40 - i),
      lng: HERE.longitude + 0.00031 * (40 - i),
      timestamp: Date.now() - (41 - i) * MINUTE_MS,
    }))
    await dataOf(await syncTrack(app.stack, userId, way), trackSyncEndpoint)
    // The phone knows its position, but no pace.
    await checkInButton(page).click()
    await page.locator('[data-state=counted]').waitFor()
    await page.reload()
    const next = page.locator('.next-station')
    await next.getByText(/ km, about \d\d:\d\d/).waitFor()
    const time = async (text: Promise<string>) => /about (\d\d:\d\d)/.exec(await text)?.[1]
    const arrival = await time(next.innerText())
    await page.getByRole('link', { name: 'My walk' }).click()
    const again = () => time(page.locator('.station').first().innerText())
    await until(async () => (await again()) === arrival, `${arrival} on the other tab`)
    expect(await page.getByText('Times follow after').count()).toBe(0)
  })
})

/** The next water, toilet and the like in the pilgrims' app: computed on the phone, even offline. */
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { photograph, seriousFaults } from './browser.ts'
import { checkInButton, PLACE, walkApp, worksOffline } from './walk-harness.ts'

const dir = mkdtempSync(join(tmpdir(), 'event-places-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const { latitude, longitude } = PLACE
const KM = 1 / 111.195
const feature = (geometry: object, properties: object) => ({ type: 'Feature', geometry, properties })
const point = (km: number, properties: object) =>
  feature({ type: 'Point', coordinates: [longitude, latitude + km * KM] }, properties)
const ROUTE = join(dir, 'route.geojson')
/** From two kilometres before the pilgrim to ten after. */
const LINE = [-2, 10].map((km) => [longitude, latitude + km * KM])
writeFileSync(
  ROUTE,
  JSON.stringify({
    type: 'FeatureCollection',
    features: [
      feature({ type: 'LineString', coordinates: LINE }, {}),
      point(-1, { kind: 'water', name: 'behind' }),
      point(1.25, { kind: 'water', name: '井', name_en: 'Well', hours: '06:00–22:00' }),
      point(0.5, { kind: 'toilet' }),
      point(4.15, { kind: 'first-aid' }),
    ],
  }),
)

describeOnServers('places along the way', () => {
  const app = walkApp({ EVENT_ROUTE: ROUTE })

  test('the next of each kind is shown, and without a network too', async () => {
    await using phone = await app.newPilgrim('Lin', { viewport: { width: 360, height: 640 } })
    const { page } = phone
    await checkInButton(page).click()
    await page.locator('[data-state=counted]').waitFor()
    await page.getByRole('link', { name: 'My walk' }).click()
    const rows = async () =>
      (await page.locator('.places li').allInnerTexts()).map((row) => row.trim().replaceAll(/\s+/g, ' '))
    const expected = ['Toilet 500 m ahead', 'Water 1.2 km ahead Well · 06:00–22:00', 'First aid 4.1 km ahead']
    await page.locator('.places li').first().waitFor()
    expect(await rows()).toEqual(expected)
    for (const theme of ['light', 'sun', 'dark']) {
      await page.evaluate((name) => (document.documentElement.dataset['theme'] = name), theme)
      expect({ theme, faults: await seriousFaults(page) }).toEqual({ theme, faults: [] })
      await page.locator('.places').scrollIntoViewIfNeeded()
      await photograph(page, `walk-places-${theme}`)
    }
    await worksOffline(page)
    await phone.context.setOffline(true)
    await page.reload()
    await page.locator('.places li').first().waitFor()
    expect(await rows()).toEqual(expected)
    expect(await page.locator('.places > p').count()).toBe(0)
    // Distances from an older position are shown with its time.
    await phone.context.clock.install({ time: Date.now() + 20 * 60_000 })
    await page.reload()
    await page.locator('.places > p', { hasText: /\d\d:\d\d/ }).waitFor()
    expect(await rows()).toEqual(expected)
  })
})

/** The map of an event outside Taiwan, and the display on a wall. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openEmbeddedTestStack } from '#tests/helpers/open-test-stack.ts'
import { checkIn, newPilgrimId, type TestStack } from '#tests/helpers/test-stack.ts'
import { photograph, testBrowser } from './browser.ts'
import { paintedCells } from './map-page.ts'

const browser = testBrowser()
const SANTIAGO = { lat: 42.8806, lng: -8.5449 }
let stack: TestStack

beforeAll(async () => {
  stack = await openEmbeddedTestStack({
    EVENT_NAME: 'Camino de Santiago',
    EVENT_TIMEZONE: 'Europe/Madrid',
    EVENT_MAP_CROWD: '2',
  })
  await Promise.all(Array.from({ length: 5 }, () => checkIn(stack, newPilgrimId(), SANTIAGO)))
})
afterAll(() => stack?.close())

test('elsewhere than in Taiwan the page shows the crowd, loads no coast of Taiwan and names no source', async () => {
  await using opened = await browser.open(stack, {
    path: '/?lang=en',
    viewport: { width: 1_440, height: 900 },
  })
  const { page, fetched } = opened
  await page.getByText('5 pilgrims are on the map').waitFor()
  expect(await paintedCells(page)).toBeGreaterThan(0)
  expect(await page.locator('.map-source').count()).toBe(0)
  expect((await fetched()).filter(({ path }) => /counties|towns/.test(path))).toEqual([])
  expect(await page.getByLabel('My station').count()).toBe(0)
  await photograph(page, 'map-elsewhere')
})

test('on a wall there are no controls, the words can be read from afar, and there is a code to scan', async () => {
  await using opened = await browser.open(stack, {
    path: '/?screen&lang=en',
    viewport: { width: 1_920, height: 1_080 },
    colorScheme: 'dark',
  })
  const { page } = opened
  await page.getByText('5 pilgrims are on the map').waitFor()
  expect(await page.locator('.map-controls').count()).toBe(0)
  const size = await page
    .getByText('5 pilgrims')
    .evaluate((one) => Number.parseFloat(getComputedStyle(one).fontSize))
  expect(size).toBeGreaterThanOrEqual(64)
  await page.getByRole('img', { name: 'Map of the procession' }).waitFor()
  await page.getByText('Follow on your phone').waitFor()
  await photograph(page, 'map-screen')
})

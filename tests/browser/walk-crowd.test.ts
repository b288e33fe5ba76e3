/** What consent, map and share view say about the public map, with crowds and with single pilgrims. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { dataEndpoint } from '#shared/contracts/tracking.ts'
import { distanceMm } from '#shared/core/rules/geo.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { openTestStack, STACK_TIMEOUT_MS } from '#tests/helpers/open-test-stack.ts'
import { profileOf } from '#tests/helpers/pilgrim.ts'
import { checkIn, newPilgrimId, type TestStack } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { photograph, testBrowser } from './browser.ts'
import { firstMinute, userIdOf, keptOn, keepOn } from './walk-harness.ts'

const browser = testBrowser()
const CROWDS = 'The public map shows crowds, never you alone.'
const SINGLE = 'The public map can show you alone, to within 10 m.'
const PHONE = { locale: 'en-GB', permissions: ['geolocation'] }
const PLACE = { lat: 24.150123, lng: 120.670456 }
const stacks = new Map<number, TestStack>()

beforeAll(async () => {
  for (const crowd of [1, 5]) stacks.set(crowd, await openTestStack({ EVENT_MAP_CROWD: String(crowd) }))
}, 4 * STACK_TIMEOUT_MS)
afterAll(() => Promise.all([...stacks.values()].map((stack) => stack.close())))

const CASES = [
  {
    crowd: 1,
    sentence: SINGLE,
    other: CROWDS,
    version: '2026-2-single',
    note: 'The map can show a single person',
  },
  { crowd: 5, sentence: CROWDS, other: SINGLE, version: '2026-2', note: 'Only places with 5 people or more' },
]
for (const { crowd, sentence, other, version, note } of CASES)
  test(`with a crowd of ${crowd} they say what the map shows, and the stored version tells which text was agreed to`, async () => {
    const stack = stacks.get(crowd)!
    await using opened = await browser.open(stack, { ...PHONE, path: '/walk/' })
    const { page } = opened
    await page.getByText(sentence).waitFor()
    expect(await page.getByText(other).count()).toBe(0)
    await photograph(page, `consent-crowd-${crowd}`, true)
    await firstMinute(page, 'Mei')
    const userId = await userIdOf(page)
    expect((await profileOf(stack, userId)).privacy_version).toBe(version)
    await page.evaluate(() => (location.hash = 'share'))
    await page.getByText(sentence).waitFor()
    expect(await page.getByText(other).count()).toBe(0)
    await photograph(page, `share-view-crowd-${crowd}`, true)

    await checkIn(stack, userId, PLACE)
    // The others are hundreds of metres apart: no small cell contains a crowd.
    for (const i of Array.from({ length: crowd - 1 }).keys())
      await checkIn(stack, newPilgrimId(), { lat: PLACE.lat, lng: PLACE.lng + 0.001 * (i + 1) })
    const points = await until(async () => {
      const map = await dataOf(await stack.fetch('/api/event/data'), dataEndpoint)
      return map.points.length === crowd && map.points
    }, 'the places on the map')
    const metres = points.map((point) => distanceMm(point, PLACE) / 1_000)
    expect(metres.every((far) => far < 10)).toBe(crowd === 1)
    await page.goto(`https://localhost:${stack.port}/`)
    await page.getByText(note).waitFor()
    await photograph(page, `map-crowd-${crowd}`, true)
  })

test('a pilgrim who agreed to crowds is asked again where the map shows single pilgrims', async () => {
  const stack = stacks.get(1)!
  await using opened = await browser.open(stack, { ...PHONE, path: '/walk/' })
  const { page } = opened
  await firstMinute(page, 'Mei')
  const userId = await userIdOf(page)
  await keepOn(page, 'person', { ...(await keptOn<object>(page, 'person')), privacyVersion: '2026-2' })
  await page.reload()
  await page.getByText('The privacy notice has changed.').waitFor()
  await page.getByText(SINGLE).waitFor()
  await photograph(page, 'consent-again', true)
  await page.getByRole('button', { name: 'I agree', exact: true }).click()
  await page.getByText(SINGLE).waitFor({ state: 'detached' })
  expect((await profileOf(stack, userId)).privacy_version).toBe('2026-2-single')
})

test('a configuration that an older release has kept promises no crowd', async () => {
  await using opened = await browser.open(stacks.get(5)!, {
    ...PHONE,
    path: '/walk/',
    expected: /ERR_FAILED/,
  })
  const { page } = opened
  await page.getByText(CROWDS).waitFor()
  const { crowd: _, ...older } = (await keptOn<{ crowd: number }>(page, 'config'))!
  await keepOn(page, 'config', older)
  await page.route('**/api/event/config', (route) => route.abort())
  await page.reload()
  await page.getByText(SINGLE).waitFor()
})

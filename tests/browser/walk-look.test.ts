import { expect, test } from 'bun:test'
import { openEmbeddedTestStack } from '#tests/helpers/open-test-stack.ts'
import { photograph, seriousFaults, testBrowser } from './browser.ts'
const browser = testBrowser()
test('look', async () => {
  const stack = await openEmbeddedTestStack({})
  await using opened = await browser.open(stack, { path: '/walk/?lang=zh-Hant', geolocation: { latitude: 24.15, longitude: 120.67, accuracy: 8 }, permissions: ['geolocation'] })
  const { page } = opened
  await page.getByRole('button', { name: '我同意' }).waitFor()
  await photograph(page, 'walk-welcome', true)
  await page.getByLabel('您的名字').fill('王阿嬤')
  await page.getByRole('button', { name: '我同意' }).click()
  await page.getByRole('button', { name: '打卡' }).waitFor()
  await photograph(page, 'walk-home', true)
  await page.getByRole('button', { name: '打卡' }).click()
  await page.locator('[data-state=counted]').waitFor()
  await photograph(page, 'walk-home2', true)
  expect(await seriousFaults(page)).toEqual([])
  console.log(await opened.fetched())
}, 60_000)

/** Detection of the phone's platform, and where it gets a tracker app. */
import { expect, test } from 'bun:test'
import { deviceOf, RECOMMENDED, shopsOf, TRACKER_APPS } from '#proxy/pages/walk/own-data/tracker-apps.ts'

test.each([
  ['Mozilla/5.0 (Linux; Android 14; Pixel 8) Chrome/130.0 Mobile', 5, 'android'],
  ['Mozilla/5.0 (Linux; Android 13; SM-A146B) Line/14.1 Mobile', 5, 'android'],
  ['Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) Safari Line/14.1.0', 5, 'iphone'],
  ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/17.0 Safari', 5, 'iphone'],
  ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/17.0 Safari', 0, 'other'],
  ['Mozilla/5.0 (X11; Linux x86_64) Chrome/130.0', 0, 'other'],
])('%s with %p touches is %s', (userAgent, maxTouchPoints, device) => {
  expect(deviceOf({ userAgent, maxTouchPoints })).toBe(device as ReturnType<typeof deviceOf>)
})

test('the recommended app is in both shops, and every app is in one', () => {
  expect(shopsOf(RECOMMENDED).map(({ kind }) => kind)).toEqual(['iPhone', 'Android'])
  for (const app of Object.keys(TRACKER_APPS) as (keyof typeof TRACKER_APPS)[])
    expect(shopsOf(app).filter(({ address }) => address.startsWith('https://'))).not.toBeEmpty()
})

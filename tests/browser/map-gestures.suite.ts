/**
 * Moving the map by touch and wheel keeps the point under the fingers, and a tap on a station is recognised.
 */
import { expect, test } from 'bun:test'
import { mapEndpoint, routeEndpoint } from '#shared/contracts/map.ts'
import { scaleOf, worldX, worldY } from '#proxy/pages/map/projection.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import type { TestStack } from '#tests/helpers/test-stack.ts'
import type { OpenOptions, OpenPage, Page } from './browser.ts'
import { settledPlace } from './map-page.ts'

interface Place {
  readonly x: number
  readonly y: number
}
export type OpenMap = (options?: Partial<OpenOptions>) => Promise<OpenPage>

const PHONE = { width: 390, height: 844 }
/** The closest zoom at which the page shows a procession by itself. */
const CLOSEST_ZOOM = 12.5

/** Sets the touch points on the screen; none: all fingers are lifted. */
async function fingers(page: Page) {
  const session = await page.context().newCDPSession(page)
  return (type: 'touchStart' | 'touchMove' | 'touchEnd', ...touchPoints: Place[]) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints })
}

/** The expected position of a place after zooming around another one. */
const stretched = ({ x, y }: Place, by: number, around: Place): Place => ({
  x: around.x + (x - around.x) * by,
  y: around.y + (y - around.y) * by,
})

function expectNear(found: Place, expected: Place): void {
  expect(Math.abs(found.x - expected.x)).toBeLessThanOrEqual(2)
  expect(Math.abs(found.y - expected.y)).toBeLessThanOrEqual(2)
}

export function gestureTests(stack: TestStack, open: OpenMap): void {
  test('two fingers stretch the map around their middle, and move it (long)', async () => {
    await using opened = await open({ viewport: PHONE, hasTouch: true })
    const { page } = opened
    await page.locator('.marker-front svg').waitFor()
    const touch = await fingers(page)
    const start = await settledPlace(page)
    const middle = { x: start.x - 30, y: start.y - 60 }
    const apart = (half: number): [Place, Place] => [
      { x: middle.x - half, y: middle.y },
      { x: middle.x + half, y: middle.y },
    ]
    await touch('touchStart', ...apart(40))
    for (let half = 45; half <= 80; half += 5) await touch('touchMove', ...apart(half))
    await touch('touchEnd')
    const closer = await settledPlace(page)
    expectNear(closer, stretched(start, 2, middle))
    await touch('touchStart', ...apart(80))
    for (let half = 70; half >= 40; half -= 10) await touch('touchMove', ...apart(half))
    const moved = apart(40).map(({ x, y }) => ({ x: x + 24, y: y + 40 }))
    await touch('touchMove', ...moved)
    await touch('touchEnd')
    expectNear(await settledPlace(page), { x: start.x + 24, y: start.y + 40 })
  })

  test('the wheel zooms around the pointer, a double tap around the finger, and plus around the centre (long)', async () => {
    await using opened = await open({ viewport: PHONE, hasTouch: true })
    const { page } = opened
    await page.locator('.marker-front svg').waitFor()
    const start = await settledPlace(page)
    const pointer = { x: start.x + 50, y: start.y - 70 }
    await page.mouse.move(pointer.x, pointer.y)
    await page.mouse.wheel(0, -400)
    const closer = await settledPlace(page)
    expectNear(closer, stretched(start, 2, pointer))
    await page.mouse.wheel(0, 400)
    expectNear(await settledPlace(page), start)
    const touch = await fingers(page)
    for (let i = 0; i < 2; i++) {
      await touch('touchStart', pointer)
      await touch('touchEnd')
    }
    expectNear(await settledPlace(page), stretched(start, 2, pointer))
    await page.getByRole('button', { name: '看隊伍' }).click()
    await page.getByRole('application').focus()
    await page.keyboard.press('+')
    const centre = { x: PHONE.width / 2, y: PHONE.height / 2 }
    expectNear(await settledPlace(page), stretched(start, 2 ** 0.75, centre))
    await page.keyboard.press('-')
    expectNear(await settledPlace(page), start)
  })

  test('a tap on a station chooses it, a tap beside it does not', async () => {
    await using opened = await open({ viewport: PHONE, hasTouch: true })
    const { page } = opened
    await page.locator('.marker-front svg').waitFor()
    const at = await settledPlace(page)
    const map = await dataOf(await stack.fetch('/api/event/map'), mapEndpoint)
    const { stations } = await dataOf(await stack.fetch('/api/event/route'), routeEndpoint)
    const scale = scaleOf(CLOSEST_ZOOM)
    const nearest = stations
      .map((station) => ({
        name: station.name,
        x: at.x + (worldX(station.lng) - worldX(map.middle!.lng)) * scale,
        y: at.y + (worldY(station.lat) - worldY(map.middle!.lat)) * scale,
      }))
      .find(({ x, y }) => x > 80 && x < PHONE.width - 80 && y > 20 && y < PHONE.height - 260)!
    await page.touchscreen.tap(nearest.x - 60, nearest.y)
    expect(await page.locator('#my-station').inputValue()).toBe('')
    await page.touchscreen.tap(nearest.x, nearest.y)
    await page.locator('.next-arrival').getByText(nearest.name).waitFor()
  })
}

/** A recorded file is previewed, added, stored and sent by the queue; once, however often it is added. */
import { expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { figure } from '#shared/locales/units.ts'
import { profileOf } from '#tests/helpers/pilgrim.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { photograph, seriousFaults, type Page } from './browser.ts'
import { storedOf, walkApp, worksOffline } from './walk-harness.ts'

const DAY_MS = 86_400_000
const isoOf = (ms: number): string => new Date(ms).toISOString()

/** An hour on foot, with a point every five seconds. */
const hour = (fromMs: number) =>
  Array.from({ length: 720 }, (_, i) => ({
    lat: 24.15 + i * 0.00006,
    lng: 120.67 + 0.002 * Math.sin(i / 90),
    t: fromMs + i * 5_000,
  }))
const trkpt = ({ lat, lng, t }: ReturnType<typeof hour>[number]): string =>
  `<trkpt lat="${lat}" lon="${lng}"><time>${isoOf(t)}</time></trkpt>`
const gpx = (body: string): Buffer =>
  Buffer.from(
    `<?xml version="1.0"?><gpx version="1.1" creator="watch"><trk><trkseg>${body}</trkseg></trk></gpx>`,
  )

async function choose(page: Page, name: string, buffer: Buffer): Promise<void> {
  await page.locator('input[type=file]').setInputFiles({ name, mimeType: '', buffer })
}

async function openView(page: Page): Promise<void> {
  await page.evaluate(() => (location.hash = 'trackers'))
  await page.getByRole('button', { name: /Add a recorded file/ }).click()
  await page.getByText('Choose a file').waitFor()
}

const addButton = (page: Page) => page.getByRole('button', { name: 'Add to my walk' })

describeOnServers('a recorded file', () => {
  const app = walkApp()

  test('is looked at, added without a network, kept through a reload, sent by itself, and counts once', async () => {
    await using phone = await app.newPilgrim()
    const { page, context, userId } = phone
    await worksOffline(page)
    const points = hour(Date.now() - DAY_MS)
    const wrong = [
      { ...points[0]!, t: Date.now() - 40 * DAY_MS },
      { ...points[0]!, t: Date.now() + DAY_MS },
    ]
    const file = gpx([...wrong, ...points].map(trkpt).join('') + '<trkpt lat="24" lon="120"/>')
    await openView(page)
    await choose(page, 'walk.gpx.gz', gzipSync(file))
    await page.getByText('1 point older than 30 days').waitFor()
    await page.getByText('1 point in the future').waitFor()
    await page.getByText('1 point without a time').waitFor()
    const shown = (await page.locator('.way-map-km').textContent())!
    expect(Number.parseFloat(shown)).toBeGreaterThan(4)
    await page.locator('.way-map canvas.crowd[width]').waitFor()
    expect(await seriousFaults(page)).toEqual([])
    await photograph(page, 'walk-recorded-file', true)

    await context.setOffline(true)
    await addButton(page).click()
    await page.getByText('Saved on this phone: 120 places.').waitFor()
    await photograph(page, 'walk-recorded-file-added', true)
    await page.reload()
    await until(async () => (await storedOf(page)) === 120, 'the points after the reload')
    await context.setOffline(false)
    await until(async () => (await storedOf(page)) === 0, 'the points sent', { timeoutMs: 60_000 })
    const kmOf = async (): Promise<number> => (await profileOf(app.stack, userId)).km
    await until(async () => `${figure(await kmOf())} km` === shown, 'the kilometres of the preview')

    const before = await kmOf()
    // Again, as KML from the same recorder: the same times are the same points.
    const kml = `<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2"><Placemark><gx:Track>${points.map(({ t }) => `<when>${isoOf(t)}</when>`).join('')}${points.map(({ lat, lng }) => `<gx:coord>${lng} ${lat} 0</gx:coord>`).join('')}</gx:Track></Placemark></kml>`
    await openView(page)
    await choose(page, 'walk.kml', Buffer.from(kml))
    await addButton(page).click()
    await page.getByText('Saved on this phone: 120 places.').waitFor()
    await until(async () => (await storedOf(page)) === 0, 'the points sent again', { timeoutMs: 60_000 })
    expect(await kmOf()).toBe(before)
  })

  test('that cannot be added says why, before anything is sent', async () => {
    await using phone = await app.newPilgrim()
    const { page } = phone
    await openView(page)
    const old = gpx(
      hour(Date.now() - 50 * DAY_MS)
        .map(trkpt)
        .join(''),
    )
    for (const [buffer, sentence] of [
      [old, 'The event takes at most 30 days back.'],
      [
        gpx(
          hour(Date.now() + 2 * DAY_MS)
            .map(trkpt)
            .join(''),
        ),
        'in the future',
      ],
      [gpx('<trkpt lat="24" lon="120"/>'), 'The points have no times.'],
      [Buffer.from('hello'), 'This is not GPX, KML or TCX.'],
      [Buffer.alloc(0), 'The file is empty.'],
      [old.subarray(0, 900), 'The file is damaged or cut short.'],
    ] as const) {
      await choose(page, 'walk.gpx', buffer)
      await page.getByText(sentence).waitFor()
      expect(await addButton(page).count()).toBe(0)
    }
    await photograph(page, 'walk-recorded-file-refused', true)
    expect(await storedOf(page)).toBe(0)
  })
})

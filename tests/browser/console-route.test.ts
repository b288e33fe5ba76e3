/**
 * An owner drops a route file on the console: stations, area and map follow; a wrong file leads to advice on
 * the export.
 */
import { expect, test } from 'bun:test'
import { zipOf } from '#tests/recorded-file/zip-of.ts'
import { until } from '#tests/helpers/wait.ts'
import { photograph, seriousFaults } from './browser.ts'
import { FOLLOWS_MS, type Page, pagesOf } from './console-harness.ts'

const event = pagesOf({ EVENT_TIMEZONE: 'Europe/Madrid' })

const trackPoints = (places: readonly (readonly [number, number])[]) =>
  places.map(([lat, lon]) => `<trkpt lat="${lat}" lon="${lon}"/>`).join('')

/** The last two days to Santiago, the second one first, and two places. */
const CAMINO = `<?xml version="1.0"?><gpx version="1.1" creator="t" xmlns="http://www.topografix.com/GPX/1/1">
<wpt lat="42.9305" lon="-8.1602"><name>Arzúa</name></wpt><wpt lat="42.8806" lon="-8.5446"><name>Santiago</name></wpt>
<trk><name>Day 2</name><trkseg>${trackPoints([
  [42.9, -8.36],
  [42.885, -8.45],
  [42.8806, -8.5446],
])}</trkseg></trk>
<trk><name>Day 1</name><trkseg>${trackPoints([
  [42.9305, -8.1602],
  [42.915, -8.26],
  [42.9, -8.36],
])}</trkseg></trk></gpx>`

const placemark = (name: string, geometry: string) => `<Placemark><name>${name}</name>${geometry}</Placemark>`
const KML = (content: string) =>
  `<?xml version="1.0" encoding="UTF-8"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document>${content}</Document></kml>`
const POINT = placemark('A', '<Point><coordinates>-8.5,42.9,0</coordinates></Point>')
/** As Google My Maps exports: a folder for each layer, and icons beside the document. */
const MY_MAPS = zipOf({
  'doc.kml': KML(
    `<Folder><name>Route</name>${placemark(
      'Línea',
      '<LineString><tessellate>1</tessellate><coordinates>\n -8.5446,42.8806,0\n -8.6,42.84,0\n -8.656,42.74,0\n</coordinates></LineString>',
    )}</Folder><Folder><name>Stops</name>${placemark(
      'Padrón',
      '<Point><coordinates>-8.656,42.74,0</coordinates></Point>',
    )}</Folder>`,
  ),
  'images/icon-1.png': 'png',
})

const dropped = (page: Page, name: string, content: string | Buffer) =>
  page.locator('.event-route input[type=file]').setInputFiles({
    name,
    mimeType: 'application/octet-stream',
    buffer: Buffer.from(content as string),
  })
const panel = (page: Page) => page.locator('.event-route')

test('the days of a GPX become one route with its stations, which the map shows; a later form is refused', async () => {
  await using map = await event.open({ path: '/?lang=en' })
  await using other = await event.console({ view: 'lifecycle', expected: /409/ })
  await dropped(other.page, 'map.kmz', MY_MAPS)
  await panel(other.page).getByText('18 km · 1 station').waitFor()
  await using opened = await event.console({ view: 'lifecycle' })
  const { page } = opened
  await dropped(page, 'camino.gpx', CAMINO)
  await panel(page).getByText('31 km · 2 stations').waitFor()
  const names = () =>
    panel(page)
      .locator('input[name=station-en]')
      .evaluateAll((all) => all.map((input) => (input as HTMLInputElement).value))
  expect(await names()).toEqual(['Arzúa', 'Santiago'])
  for (const first of ['Santiago', 'Arzúa']) {
    await panel(page).getByRole('button', { name: 'Reverse the direction' }).click()
    await until(async () => (await names())[0] === first, 'the order to be reversed')
  }

  // A tap in the middle of the map hits the middle of the route.
  await panel(page).locator('.map-frame').click()
  const added = panel(page).locator('.route-stations li:nth-child(2)')
  await added.locator('input[name=station-en]').fill('O Pedrouzo')
  await added.getByLabel('Planned time').fill('2099-07-25T12:00')
  await panel(page).getByLabel('Counted up to').fill('3')
  await photograph(page, 'console-route')
  await panel(page).getByRole('button', { name: 'Save', exact: true }).click()
  await panel(page).getByText('owner').waitFor()
  expect(await names()).toEqual(['Arzúa', 'O Pedrouzo', 'Santiago'])
  await page.locator('.checklist li', { hasText: 'Route' }).getByText('done').waitFor()

  await map.page
    .locator('option', { hasText: 'O Pedrouzo' })
    .waitFor({ state: 'attached', timeout: FOLLOWS_MS })
  await photograph(map.page, 'map-of-own-route')

  await panel(other.page).getByRole('button', { name: 'Save', exact: true }).click()
  await other.page.locator('.toast', { hasText: 'Changed meanwhile by owner' }).waitFor()
  await panel(other.page).getByText('Changed meanwhile to: 31 km, 3 stations').waitFor()
  await panel(other.page).getByRole('button', { name: 'Save', exact: true }).click()
  await map.page.locator('option', { hasText: 'Padrón' }).waitFor({ state: 'attached', timeout: FOLLOWS_MS })
})

/** A waypoint with a kind, and one whose kind is set in the console. */
const WITH_PLACES = CAMINO.replace(
  '<trk><name>Day 2',
  '<wpt lat="42.91" lon="-8.30"><name>Fuente</name><sym>Water</sym></wpt><wpt lat="42.89" lon="-8.42"><name>Posta</name></wpt><trk><name>Day 2',
)

test('places along the way come from a file or get their kind in the console; the map shows them', async () => {
  await using map = await event.open({ path: '/?lang=en', viewport: { width: 360, height: 640 } })
  await using opened = await event.console({ view: 'lifecycle' })
  const { page } = opened
  await dropped(page, 'places.gpx', WITH_PLACES)
  await panel(page).getByText('31 km · 3 stations · 1 place along the way').waitFor()
  await panel(page).locator('.route-stations li:nth-child(3) select[name=kind]').selectOption('First aid')
  await panel(page).getByText('2 stations · 2 places along the way').waitFor()
  expect(await panel(page).locator('.route-stations li:nth-child(3) input[name=place-en]').inputValue()).toBe(
    'Posta',
  )
  await panel(page).locator('.route-stations li:nth-child(3) input[name=hours]').fill('08:00–20:00')
  await photograph(page, 'console-places')
  await panel(page).getByRole('button', { name: 'Save', exact: true }).click()
  await panel(page).getByText('owner').waitFor()

  const list = map.page.locator('.places')
  await list.getByText('First aid · 1').waitFor({ state: 'attached', timeout: FOLLOWS_MS })
  await map.page.locator('.sheet-grip').click()
  await list.locator('summary', { hasText: 'First aid' }).press('Enter')
  await list.getByText(/Posta/).waitFor()
  expect(await list.innerText()).toMatch(/Posta[^]*km from the start · 08:00–20:00/)
  for (const theme of ['light', 'sun', 'dark']) {
    await map.page.evaluate((name) => (document.documentElement.dataset['theme'] = name), theme)
    expect({ theme, faults: await seriousFaults(map.page) }).toEqual({ theme, faults: [] })
    await photograph(map.page, `map-places-list-${theme}`)
  }
  await map.page.locator('.sheet-grip').click()
  for (const [width, height] of [
    [1_280, 800],
    [360, 640],
  ] as const) {
    await map.page.setViewportSize({ width, height })
    await map.page.getByRole('button', { name: 'Show the whole route' }).click()
    if (width < 1_000) await map.page.getByRole('button', { name: 'Closer' }).click()
    await photograph(map.page, `map-places-${width}`)
  }
})

test('a wrong file says what to export instead, and changes nothing', async () => {
  // Chromium marks the position of a parse error with a style that the content policy blocks.
  await using opened = await event.console({ view: 'lifecycle', expected: /Applying inline style/ })
  const { page } = opened
  const alert = panel(page).getByRole('alert')
  for (const [name, content, sentence] of [
    ['empty.gpx', '', 'is empty'],
    ['cut.gpx', CAMINO.slice(0, 400), 'damaged or cut short'],
    ['places.kml', KML(POINT), 'no line'],
    [
      'link.kmz',
      zipOf({ 'doc.kml': KML('<NetworkLink><Link><href>https://maps.test/kml</href></Link></NetworkLink>') }),
      'without “Keep data up to date',
    ],
    ['photos.zip', zipOf({ 'a.jpg': 'jpg' }), 'holds no KML'],
    ['many.zip', zipOf({ 'a.gpx': CAMINO, 'b.gpx': CAMINO }), 'holds several files'],
    ['damaged.kmz', MY_MAPS.subarray(0, 300), 'damaged or encrypted'],
    ['bomb.kmz', zipOf({ 'doc.kml': ' '.repeat(21 * 1024 * 1024) }), 'more than 20 MB'],
    ['page.html', '<!doctype html><title>x</title>', 'Export to KML/KMZ'],
    ['route.pdf', '%PDF-1.7', 'Export to KML/KMZ'],
    ['cut.geojson', '{"type":"LineString","coordinates":[[1,2],', 'not valid GeoJSON'],
    ['table.json', '{"rows":[]}', 'Export to KML/KMZ'],
    ['line.json', '{"type":"LineString"}', 'Export to KML/KMZ'],
    ['grid.geojson', '{"type":"LineString","coordinates":[[535000,4740000],[536000,4741000]]}', 'WGS 84'],
  ] as const) {
    await dropped(page, name, content)
    await alert.getByText(sentence).waitFor()
    expect(await panel(page).getByRole('button', { name: 'Save', exact: true }).count(), name).toBe(0)
  }
  // The next valid file removes the error.
  await dropped(page, 'line.geojson', '{"type":"LineString","coordinates":[[-8.5,42.9],[-8.6,42.9]]}')
  await panel(page).getByText('8.1 km').waitFor()
  expect(await alert.textContent()).toBe('')
})

/** The detailed map: an operator's vector tiles, loaded on request only, drawn below the crowd and the route. */
import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Feature, FeatureCollection } from 'geojson'
import { mixed } from '#proxy/pages/map/tiles-style.ts'
import type { TestStack } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { type OpenPage, type Page, photograph } from './browser.ts'
import type { OpenMap } from './map-gestures.suite.ts'
import { paintedCells } from './map-page.ts'
import { gzipSync } from 'node:zlib'
import { GeoJSONVT } from '@maplibre/geojson-vt'
import { fromGeojsonVt } from '@maplibre/vt-pbf'
import { zxyToTileId } from 'pmtiles'

const HEADER_BYTES = 127
/** Codes of the format: compression, and tile type. */
const [GZIP, MVT] = [2, 1]

/** Content of a small archive of vector tiles (PMTiles, version 3), with the layers of Protomaps' basemap. */
interface ArchiveContent {
  readonly layers: Readonly<Record<string, FeatureCollection>>
  /** West, south, east, north. */
  readonly bounds: readonly [number, number, number, number]
  readonly zooms: readonly [least: number, most: number]
  readonly attribution: string
}

interface Tile {
  readonly id: number
  readonly bytes: Uint8Array
}

/** Writes the archive to a file. */
function writeTilesArchive(file: string, content: ArchiveContent): void {
  const tiles = tilesOf(content)
  let offset = 0
  const entries = tiles.map(({ id, bytes }) => {
    const entry = { id, offset, length: bytes.length }
    offset += bytes.length
    return entry
  })
  const directory = gzipSync(directoryOf(entries))
  const metadata = gzipSync(
    JSON.stringify({
      attribution: content.attribution,
      vector_layers: Object.keys(content.layers).map((id) => ({ id, fields: {} })),
    }),
  )
  const header = headerOf(content, {
    directory: directory.length,
    metadata: metadata.length,
    data: offset,
    count: tiles.length,
  })
  writeFileSync(file, Buffer.concat([header, directory, metadata, ...tiles.map(({ bytes }) => bytes)]))
}

/** Non-empty tiles, in the archive's order. */
function tilesOf({
  layers,
  bounds: [west, south, east, north],
  zooms: [least, most],
}: ArchiveContent): Tile[] {
  const indexes = Object.entries(layers).map(
    ([name, data]) => [name, new GeoJSONVT(data, { maxZoom: most, indexMaxZoom: most, buffer: 64 })] as const,
  )
  const tiles: Tile[] = []
  for (let z = least; z <= most; z++) {
    const x = (lng: number) => Math.floor(((lng + 180) / 360) * 2 ** z)
    const y = (lat: number) =>
      Math.floor((0.5 - Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / (2 * Math.PI)) * 2 ** z)
    for (let column = x(west); column <= x(east); column++)
      for (let row = y(north); row <= y(south); row++) {
        const found = indexes.flatMap(([name, index]) => {
          const tile = index.getTile(z, column, row)
          return tile === null ? [] : [[name, tile] as const]
        })
        if (found.length === 0) continue
        const pbf = fromGeojsonVt(Object.fromEntries(found), { version: 2, extent: 4096 })
        tiles.push({ id: zxyToTileId(z, column, row), bytes: gzipSync(pbf) })
      }
  }
  return tiles.sort((a, b) => a.id - b.id)
}

function varint(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80)
  return [...bytes, rest]
}

/**
 * A directory in columns: id differences, run lengths, lengths, and 0 for an offset that follows the previous
 * entry.
 */
function directoryOf(entries: readonly { readonly id: number; readonly length: number }[]): Uint8Array {
  const columns = [
    ...entries.map(({ id }, i) => id - (entries[i - 1]?.id ?? 0)),
    ...entries.map(() => 1),
    ...entries.map(({ length }) => length),
    ...entries.map((_, i) => (i === 0 ? 1 : 0)),
  ]
  return Uint8Array.from([entries.length, ...columns].flatMap(varint))
}

function headerOf(
  { bounds: [west, south, east, north], zooms: [least, most] }: ArchiveContent,
  lengths: Readonly<Record<'directory' | 'metadata' | 'data' | 'count', number>>,
): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.write('PMTiles')
  header[7] = 3
  const { directory, metadata, data, count } = lengths
  const [metadataAt, dataAt] = [HEADER_BYTES + directory, HEADER_BYTES + directory + metadata]
  const numbers = [
    HEADER_BYTES,
    directory,
    metadataAt,
    metadata,
    dataAt,
    0,
    dataAt,
    data,
    count,
    count,
    count,
  ]
  for (const [i, number] of numbers.entries()) header.writeBigUInt64LE(BigInt(number), 8 + i * 8)
  // Clustered: the tiles are in the order of their ids.
  for (const [i, byte] of [1, GZIP, GZIP, MVT, least, most].entries()) header[96 + i] = byte
  const degrees = (value: number) => Math.round(value * 1e7)
  for (const [i, value] of [west, south, east, north].entries())
    header.writeInt32LE(degrees(value), 102 + i * 4)
  header[118] = least
  header.writeInt32LE(degrees((west + east) / 2), 119)
  header.writeInt32LE(degrees((south + north) / 2), 123)
  return header
}

const DAJIA = { lat: 24.3489, lng: 120.6224 }
/** A park around Dajia, in a colour that the simple map does not use. */
const [WEST, SOUTH, EAST, NORTH] = [120.45, 24.2, 120.8, 24.5] as const

const feature = (properties: object, type: string, coordinates: unknown): Feature =>
  ({ type: 'Feature', properties, geometry: { type, coordinates } }) as Feature
const collection = (...features: Feature[]): FeatureCollection => ({ type: 'FeatureCollection', features })
const box = (west: number, south: number, east: number, north: number) => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
]

/** A fictional country around Dajia, in the form of Protomaps' basemap. */
function madeArchive(): string {
  const file = join(mkdtempSync(join(tmpdir(), 'tiles-')), 'map.pmtiles')
  const { lat, lng } = DAJIA
  const streets = Array.from({ length: 13 }, (_, i) => (i - 6) * 0.004)
  writeTilesArchive(file, {
    bounds: [WEST, SOUTH, EAST, NORTH],
    zooms: [7, 13],
    attribution: '<a href="https://www.openstreetmap.org/copyright">© OpenStreetMap</a>',
    layers: {
      earth: collection(feature({ kind: 'earth' }, 'Polygon', [box(WEST, SOUTH, EAST, NORTH)])),
      landuse: collection(
        feature({ kind: 'park' }, 'Polygon', [box(WEST, SOUTH, EAST, NORTH)]),
        feature({ kind: 'residential' }, 'Polygon', [box(lng - 0.03, lat - 0.03, lng + 0.03, lat + 0.03)]),
      ),
      water: collection(
        feature({ kind: 'river' }, 'LineString', [
          [WEST, lat - 0.05],
          [lng, lat - 0.038],
          [EAST, lat - 0.06],
        ]),
        feature({ kind: 'lake' }, 'Polygon', [box(lng + 0.04, lat + 0.01, lng + 0.06, lat + 0.03)]),
        feature({ kind: 'lake', name: '鐵砧山湖' }, 'Point', [lng + 0.05, lat + 0.02]),
      ),
      roads: collection(
        feature({ kind: 'highway', name: '國道3號' }, 'LineString', [
          [lng + 0.035, SOUTH],
          [lng + 0.03, NORTH],
        ]),
        feature({ kind: 'rail' }, 'LineString', [
          [lng - 0.01, SOUTH],
          [lng - 0.012, NORTH],
        ]),
        ...streets.flatMap((off, i) => [
          feature({ kind: i % 4 === 2 ? 'major_road' : 'minor_road', name: '經國路' }, 'LineString', [
            [lng - 0.03, lat + off],
            [lng + 0.03, lat + off],
          ]),
          feature({ kind: i % 4 === 2 ? 'major_road' : 'minor_road' }, 'LineString', [
            [lng + off, lat - 0.03],
            [lng + off, lat + 0.03],
          ]),
        ]),
      ),
      places: collection(
        feature({ kind: 'locality', name: '大甲', 'name:en': 'Dajia', min_zoom: 8 }, 'Point', [
          lng + 0.012,
          lat + 0.012,
        ]),
        feature({ kind: 'locality', name: '外埔', 'name:en': 'Waipu', min_zoom: 9 }, 'Point', [
          lng + 0.045,
          lat - 0.015,
        ]),
      ),
    },
  })
  return file
}

export const ARCHIVE = madeArchive()

const isOfTiles = (path: string): boolean => /draw-tiles|map-worker|\.pmtiles/.test(path)
const pathsOfTiles = async (opened: OpenPage): Promise<string[]> =>
  (await opened.fetched()).map(({ path }) => path).filter(isOfTiles)

const button = (page: Page) => page.getByRole('button', { name: '詳細地圖' })

/** The share of the visible map that has exactly this colour, `#rrggbb`. */
async function shareOf(page: Page, colour: string): Promise<number> {
  const picture = (await page.locator('.map-frame').screenshot()).toString('base64')
  return page.evaluate(
    async ([picture, colour]) => {
      const bytes = Uint8Array.from(atob(picture), (character) => character.charCodeAt(0))
      const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height)
      const context = canvas.getContext('2d')!
      context.drawImage(bitmap, 0, 0)
      const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height)
      const wanted = Number.parseInt(colour.slice(1), 16)
      let found = 0
      for (let i = 0; i < data.length; i += 4)
        if (((data[i]! << 16) | (data[i + 1]! << 8) | data[i + 2]!) === wanted) found++
      return found / (data.length / 4)
    },
    [picture, colour] as const,
  )
}

const painted = (page: Page, colour: string): Promise<unknown> =>
  until(async () => (await shareOf(page, colour)) > 0.2, `the colour ${colour}`)

/** Green of the light and of the dark theme: land with a little jade. */
const GREEN = { light: mixed('#fbf5e7', '#125a52', 0.13), dark: mixed('#0c2521', '#7fd3c0', 0.13) }

export function detailedTests(stack: TestStack, open: OpenMap): void {
  const tilesPath = async (): Promise<string> =>
    /\/assets\/map-tiles-\w+\.pmtiles/.exec(await (await stack.fetch('/')).text())![0]

  test('the archive of tiles is sent in parts', async () => {
    const path = await tilesPath()
    const whole = readFileSync(ARCHIVE)
    const ask = (headers: Record<string, string>, method = 'GET') => stack.fetch(path, { method, headers })
    const etag = (await ask({}, 'HEAD')).headers.get('etag')!
    for (const [range, from, to] of [
      ['bytes=0-126', 0, 127],
      ['bytes=200-', 200, whole.length],
      ['bytes=-50', whole.length - 50, whole.length],
      [`bytes=100-${whole.length + 500}`, 100, whole.length],
    ] as const) {
      const answer = await ask({ Range: range, 'If-Range': etag })
      expect([answer.status, answer.headers.get('content-range')]).toEqual([
        206,
        `bytes ${from}-${to - 1}/${whole.length}`,
      ])
      expect(Buffer.from(await answer.arrayBuffer()).equals(whole.subarray(from, to))).toBe(true)
    }
    const outside = await ask({ Range: `bytes=${whole.length}-` })
    expect([outside.status, outside.headers.get('content-range')]).toEqual([416, `bytes */${whole.length}`])
    const other = await ask({ Range: 'bytes=0-9', 'If-Range': '"another"' })
    expect([other.status, (await other.arrayBuffer()).byteLength]).toEqual([200, whole.length])
    expect(other.headers.get('accept-ranges')).toBe('bytes')
    expect(other.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect((await ask({ 'If-None-Match': etag })).status).toBe(304)
    expect((await stack.fetch('/assets/map-tiles-another.pmtiles')).status).toBe(404)
  })

  test('it is loaded on request only, lies below the crowd, follows the theme, and goes again (long)', async () => {
    await using opened = await open({ colorScheme: 'light' })
    const { page } = opened
    await page.locator('.marker-front svg').waitFor()
    expect(await pathsOfTiles(opened)).toEqual([])
    await button(page).click()
    await page.getByText('© OpenStreetMap').waitFor()
    await painted(page, GREEN.light)
    expect(await paintedCells(page)).toBeGreaterThan(0)
    expect(await button(page).getAttribute('aria-pressed')).toBe('true')
    await photograph(page, `map-detailed-light-${stack.kind}`)
    await page.emulateMedia({ colorScheme: 'dark' })
    await painted(page, GREEN.dark)
    await photograph(page, `map-detailed-dark-${stack.kind}`)
    await button(page).click()
    await page.getByText('底圖：內政部').waitFor()
    expect(await shareOf(page, GREEN.dark)).toBeLessThan(0.01)
    expect(await page.locator('.tiles canvas').count()).toBe(0)
  })

  test.if(stack.isFirst === true)(
    'where it cannot be drawn or loaded, a sentence says so and the simple map stays',
    async () => {
      await using opened = await open({ expected: /404|Failed to load/ })
      const { page } = opened
      // Without the crowd of other tests and unaffected by the graphics of a busy machine.
      await page.evaluate(() => {
        const { getContext } = HTMLCanvasElement.prototype as unknown as {
          getContext: (kind: string) => RenderingContext | null
        }
        Object.assign(HTMLCanvasElement.prototype, {
          getContext(this: HTMLCanvasElement, kind: string) {
            if (!kind.startsWith('webgl')) return getContext.call(this, kind)
            return document.documentElement.dataset['webgl'] === 'none' ? null : { getExtension: () => null }
          },
        })
      })
      await page.route('**/*.pmtiles', (route) => route.fulfill({ status: 404 }))
      await button(page).click()
      await page.getByText('目前無法載入詳細地圖').waitFor()
      expect(await button(page).getAttribute('aria-pressed')).toBe('false')
      await page.getByText('底圖：內政部').waitFor()
      await page.evaluate(() => (document.documentElement.dataset['webgl'] = 'none'))
      await button(page).click()
      await page.getByText('這個瀏覽器無法顯示詳細地圖').waitFor()
    },
  )
}

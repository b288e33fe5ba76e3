/** Names of the detailed map: the tiles omit names that the page writes for stations. */
import { describe, expect, test } from 'bun:test'
import { featureFilter, type FilterSpecification, validateStyleMin } from '@maplibre/maplibre-gl-style-spec'
import { tilesStyle } from '#proxy/pages/map/tiles-style.ts'

const DAJIA = { name: '大甲', lng: 120.622, lat: 24.348 }
const [ZOOM, EXTENT] = [12, 8_192]

function styleWith(stations: readonly (typeof DAJIA)[], language = 'zh-Hant') {
  const layers = new Set(['earth', 'places'])
  return tilesStyle({
    address: 'https://localhost/t.pmtiles',
    layers,
    colour: () => '#123456',
    language,
    stations,
  })
}

/** Whether the style writes the name of a place in a tile. */
function writes(style: ReturnType<typeof styleWith>, properties: object, lng: number, lat: number): boolean {
  const layer = style.layers.find(({ id }) => id === 'names-of-places') as { filter: FilterSpecification }
  const tiles = 2 ** ZOOM
  const sine = Math.sin((lat * Math.PI) / 180)
  const x = ((lng + 180) / 360) * tiles
  const y = (0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)) * tiles
  const canonical = { z: ZOOM, x: Math.floor(x), y: Math.floor(y) }
  const at = { x: (x - canonical.x) * EXTENT, y: (y - canonical.y) * EXTENT }
  const feature = { type: 1 as const, properties: { kind: 'locality', ...properties }, geometry: [[at]] }
  return featureFilter(layer.filter, 'filter').filter({ zoom: ZOOM }, feature, canonical as never)
}

describe('the tiles’ names of places', () => {
  test('leave out a station and the town that is named like it, in the reader’s language', () => {
    const style = styleWith([DAJIA])
    expect(validateStyleMin(style)).toEqual([])
    expect(writes(style, { name: '大甲' }, DAJIA.lng + 0.012, DAJIA.lat + 0.012)).toBe(false)
    expect(writes(style, { name: '大甲區' }, DAJIA.lng, DAJIA.lat)).toBe(false)
    const english = styleWith([{ ...DAJIA, name: 'Dajia' }], 'en')
    expect(writes(english, { name: '大甲', 'name:en': 'Dajia' }, DAJIA.lng, DAJIA.lat)).toBe(false)
  })

  test('keep others, one of the same name elsewhere, and places without a name', () => {
    const style = styleWith([DAJIA])
    expect(writes(style, { name: '外埔' }, DAJIA.lng, DAJIA.lat)).toBe(true)
    expect(writes(style, { name: '大甲' }, DAJIA.lng, DAJIA.lat + 0.1)).toBe(true)
    expect(writes(style, {}, DAJIA.lng, DAJIA.lat)).toBe(true)
    expect(writes(styleWith([]), { name: '大甲' }, DAJIA.lng, DAJIA.lat)).toBe(true)
  })
})

/**
 * The style of the tiles: the colours of the page's theme, quieter than the crowd and the route, which are drawn above.
 * The layers are those of Protomaps' basemap (https://docs.protomaps.com/basemaps/layers). Names use the reader's
 * fonts, so no font is loaded.
 */
import type {
  ExpressionSpecification,
  LayerSpecification,
  StyleSpecification,
  SymbolLayerSpecification,
} from 'maplibre-gl'

/** A station, whose name the page itself draws. */
export interface NamedPlace {
  readonly name: string
  /** Degrees. */
  readonly lng: number
  readonly lat: number
}

export interface TilesStyle {
  readonly address: string
  readonly layers: ReadonlySet<string>
  /** Value of a token, by its name without dashes. */
  readonly colour: (name: string) => string
  /** BCP 47. */
  readonly language: string
  readonly stations: readonly NamedPlace[]
}

const SOURCE = 'tiles'
/** A place with a station's name within this distance is the station. */
const SAME_PLACE_M = 5_000

export function tilesStyle({ address, layers, colour, language, stations }: TilesStyle): StyleSpecification {
  const theme = themeOf(colour)
  const drawn = [...areas(theme), ...roads(theme), ...names(theme, language, stations)]
  return {
    version: 8,
    sources: { [SOURCE]: { type: 'vector', url: `pmtiles://${address}` } },
    layers: [
      // Archives without a land layer have land everywhere.
      {
        id: 'sea',
        type: 'background',
        paint: { 'background-color': layers.has('earth') ? theme.sea : theme.land },
      },
      ...drawn.filter((layer) => 'source-layer' in layer && layers.has(layer['source-layer'] ?? '')),
    ],
  }
}

type Theme = ReturnType<typeof themeOf>

/** Colours mixed from the tokens: an area of green is land with a little jade. */
function themeOf(colour: TilesStyle['colour']) {
  const [land, label] = [colour('map-land'), colour('map-label')]
  return {
    land,
    label,
    sea: colour('map-sea'),
    coast: colour('map-coast'),
    county: colour('map-county'),
    halo: colour('map-halo'),
    green: mixed(land, colour('jade'), 0.13),
    built: mixed(land, label, 0.09),
    building: mixed(land, label, 0.16),
    road: mixed(land, label, 0.48),
    street: mixed(land, label, 0.3),
    rail: mixed(land, label, 0.62),
    ink: colour('soft'),
    fonts: colour('font')
      .split(',')
      .map((name) => name.trim().replaceAll("'", '')),
  }
}

/** A mix of two colours, `#rrggbb` each. @param share of the second one */
export function mixed(base: string, other: string, share: number): string {
  const part = (text: string, at: number) => Number.parseInt(text.slice(at, at + 2), 16)
  const parts = [1, 3, 5].map((at) => Math.round(part(base, at) * (1 - share) + part(other, at) * share))
  return `#${parts.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}

const kindIn = (...kinds: string[]): ExpressionSpecification => ['in', ['get', 'kind'], ['literal', kinds]]
/** A width in pixels that grows with the zoom. */
const widths = (...stops: number[]): ExpressionSpecification =>
  ['interpolate', ['exponential', 1.6], ['zoom'], ...stops] as unknown as ExpressionSpecification

const PARKS = [
  'park',
  'forest',
  'wood',
  'nature_reserve',
  'national_park',
  'grass',
  'grassland',
  'garden',
  'cemetery',
  'scrub',
  'farmland',
  'orchard',
]
const BUILT = ['residential', 'commercial', 'industrial', 'school', 'university', 'hospital', 'urban_area']

const areas = (theme: Theme): LayerSpecification[] => [
  fill('land', 'earth', theme.land),
  fill('cover', 'landcover', theme.green, kindIn('forest', 'grassland', 'scrub', 'farmland')),
  fill('built', 'landuse', theme.built, kindIn(...BUILT)),
  fill('parks', 'landuse', theme.green, kindIn(...PARKS)),
  fill('water', 'water', theme.sea, ['==', ['geometry-type'], 'Polygon']),
  line('rivers', 'water', { color: theme.sea, width: widths(8, 0.6, 15, 4) }, [
    '==',
    ['geometry-type'],
    'LineString',
  ]),
  { ...fill('buildings', 'buildings', theme.building), minzoom: 14 },
  {
    ...line('borders', 'boundaries', { color: theme.county, width: widths(6, 0.8, 12, 1.6) }),
    layout: { 'line-join': 'round' },
  },
]

/** Kinds of roads, the least first: the zoom at which they appear, and their width there and at zoom 17. */
const ROADS: readonly [kind: string, fromZoom: number, width: number, wide: number][] = [
  ['path', 13, 0.5, 2],
  ['minor_road', 12, 0.5, 8],
  ['medium_road', 10, 0.6, 11],
  ['major_road', 7, 0.7, 14],
  ['highway', 5, 0.9, 16],
]

function roads(theme: Theme): LayerSpecification[] {
  const drawn = ROADS.map(([kind, minzoom, width, wide]) => ({
    ...line(
      `road-${kind}`,
      'roads',
      {
        color: kind === 'path' || kind === 'minor_road' ? theme.street : theme.road,
        width: widths(minzoom, width, 17, wide),
      },
      kindIn(kind),
    ),
    minzoom,
  }))
  const rail = line(
    'rail',
    'roads',
    { color: theme.rail, width: widths(9, 0.6, 16, 2.4), dashes: [4, 3] },
    kindIn('rail'),
  )
  return [...drawn, { ...rail, minzoom: 9 }]
}

/** A place near a station that begins with its name: the page draws this name above the tiles. */
const isStation = (
  text: ExpressionSpecification,
  stations: readonly NamedPlace[],
): ExpressionSpecification => [
  'any',
  ...stations.map(({ name, lng, lat }): ExpressionSpecification => [
    'all',
    ['==', ['index-of', name, text], 0],
    ['<', ['distance', { type: 'Point', coordinates: [lng, lat] }], SAME_PLACE_M],
  ]),
]

function names(theme: Theme, language: string, stations: readonly NamedPlace[]): LayerSpecification[] {
  const text: ExpressionSpecification = ['coalesce', ['get', `name:${language}`], ['get', 'name'], '']
  const label = (id: string, layer: string, size: number, more: Partial<SymbolLayerSpecification>) => ({
    id,
    type: 'symbol' as const,
    source: SOURCE,
    'source-layer': layer,
    paint: { 'text-color': theme.label, 'text-halo-color': theme.halo, 'text-halo-width': 1.4 },
    ...more,
    layout: { 'text-field': text, 'text-font': theme.fonts, 'text-size': size, ...more.layout },
  })
  return [
    label('names-of-roads', 'roads', 11, { minzoom: 13, layout: { 'symbol-placement': 'line' } }),
    label('names-of-water', 'water', 11, {
      minzoom: 10,
      filter: ['!=', ['geometry-type'], 'Polygon'],
      layout: { 'text-max-width': 6 },
    }),
    label('names-of-places', 'places', 13, {
      paint: { 'text-color': theme.ink, 'text-halo-color': theme.halo, 'text-halo-width': 1.6 },
      filter: ['all', kindIn('locality', 'neighbourhood', 'macrohood'), ['!', isStation(text, stations)]],
      layout: { 'symbol-sort-key': ['coalesce', ['get', 'min_zoom'], 20] },
    }),
  ]
}

const fill = (id: string, layer: string, colour: string, filter?: ExpressionSpecification) => ({
  id,
  type: 'fill' as const,
  source: SOURCE,
  'source-layer': layer,
  paint: { 'fill-color': colour },
  ...(filter === undefined ? {} : { filter }),
})

interface Stroke {
  readonly color: string
  readonly width: ExpressionSpecification
  readonly dashes?: number[]
}

const line = (
  id: string,
  layer: string,
  { color, width, dashes }: Stroke,
  filter?: ExpressionSpecification,
) => ({
  id,
  type: 'line' as const,
  source: SOURCE,
  'source-layer': layer,
  layout: { 'line-cap': dashes === undefined ? 'round' : 'butt', 'line-join': 'round' } as const,
  paint: {
    'line-color': color,
    'line-width': width,
    ...(dashes === undefined ? {} : { 'line-dasharray': dashes }),
  },
  ...(filter === undefined ? {} : { filter }),
})

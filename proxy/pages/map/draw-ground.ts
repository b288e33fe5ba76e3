/** Draws the static parts: land, borders and the route below the crowd, stations and names above it. */
import type { Language } from '#shared/contracts/bot.ts'
import { placeName } from '#shared/core/rules/languages.ts'
import { type Box, distinctLabels, drawLabels, type Label, type OverNames } from './labels.ts'
import { numbersOf } from './draw-crowd.ts'
import type { AtlasShapes, Crowd, Place, RouteShapes, Shape } from './shapes.ts'
import { type Colour, meet, type View } from './view.ts'

export interface Station extends Place {
  readonly name: string
  readonly km: number
}

export interface Ground {
  readonly counties: AtlasShapes | null
  readonly towns: AtlasShapes | null
  readonly route: RouteShapes | null
  readonly stations: readonly Station[]
  /** Index of the reader's station. */
  readonly mine: number | null
  /** The route is walked up to here; null: not known. */
  readonly walkedKm: number | null
  readonly language: Language
  /** Marks above the names; names leave their place free. */
  readonly marks?: readonly OverNames[]
  /** Areas of the screen covered by other elements; names leave them free. */
  readonly covered?: readonly Box[]
  /** The detailed map is below and draws land and its names. */
  readonly detailed?: boolean
  /** Whether the dense parts of the crowd have numbers. */
  readonly numbered?: boolean
}

/** Towns are shown from this zoom. */
const TOWNS_ZOOM = 9.6

export function drawGround(
  context: CanvasRenderingContext2D,
  view: View,
  ground: Ground,
  colour: Colour,
): void {
  const { route } = ground
  context.lineJoin = 'round'
  context.lineCap = 'round'
  if (ground.detailed) context.clearRect(0, 0, view.width, view.height)
  else drawLand(context, view, ground, colour)
  if (route !== null) drawRoute(context, view, route, ground.walkedKm, colour)
}

function drawLand(
  context: CanvasRenderingContext2D,
  view: View,
  { counties, towns }: Ground,
  colour: Colour,
): void {
  const { width, height, density, zoom } = view
  // Without coasts everything is drawn as land.
  context.fillStyle = colour(counties === null ? 'map-land' : 'map-sea')
  context.fillRect(0, 0, width, height)
  if (counties !== null) {
    context.beginPath()
    for (const ring of counties.land) trace(context, view, ring)
    context.fillStyle = colour('map-land')
    context.fill()
    if (towns !== null && zoom >= TOWNS_ZOOM)
      strokeAll(context, view, towns.lines, colour('map-town'), density)
    strokeAll(context, view, counties.lines, colour('map-county'), (zoom < 9 ? 1 : 1.5) * density)
    strokeAll(context, view, counties.land, colour('map-coast'), 1.25 * density)
  }
}

export function drawNames(
  context: CanvasRenderingContext2D,
  view: View,
  ground: Ground,
  crowd: Crowd | null,
  colour: Colour,
): void {
  context.clearRect(0, 0, view.width, view.height)
  const numbers = ground.numbered && crowd !== null ? numbersOf(view, crowd, ground.language) : []
  drawStations(context, view, ground, colour)
  drawLabels(
    context,
    view,
    distinctLabels(view, labelsOf(ground, view, numbers), ground.marks, ground.covered),
    colour,
  )
}

/** Strokes lines as one path. */
export function strokeAll(
  context: CanvasRenderingContext2D,
  view: View,
  shapes: readonly Shape[],
  colour: string,
  width: number,
): void {
  context.beginPath()
  for (const shape of shapes) trace(context, view, shape)
  context.strokeStyle = colour
  context.lineWidth = width
  context.stroke()
}

/** Adds a line to the path, without places that fall on the same pixel. */
function trace(
  context: CanvasRenderingContext2D,
  view: View,
  { at, bounds }: Shape,
  from = 0,
  to = at.length / 2,
): void {
  if (!meet(bounds, view.bounds)) return
  const { scale, left, top } = view
  let [lastX, lastY] = [NaN, NaN]
  for (let i = from; i < to; i++) {
    const x = (at[i * 2]! - left) * scale
    const y = (at[i * 2 + 1]! - top) * scale
    if (i === from) context.moveTo(x, y)
    else if (Math.abs(x - lastX) + Math.abs(y - lastY) < 1 && i < to - 1) continue
    else context.lineTo(x, y)
    ;[lastX, lastY] = [x, y]
  }
}

/** Thin and neutral, so that the crowd stands out; the walked part is thinner. */
function drawRoute(
  context: CanvasRenderingContext2D,
  view: View,
  route: RouteShapes,
  walkedKm: number | null,
  colour: Colour,
): void {
  const width = (view.zoom < 8 ? 1.5 : 2.5) * view.density * view.type
  strokeAll(context, view, route.lines, colour('map-halo'), width + 2 * view.density)
  strokeAll(context, view, route.lines, colour('map-route'), width)
  if (walkedKm === null) return
  context.beginPath()
  for (const line of route.lines) {
    const walked = line.km.findLastIndex((km) => km <= walkedKm) + 1
    if (walked > 1) trace(context, view, line, 0, walked)
  }
  context.strokeStyle = colour('map-halo')
  context.globalAlpha = 0.6
  context.lineWidth = width + 0.5 * view.density
  context.stroke()
  context.globalAlpha = 1
}

function drawStations(
  context: CanvasRenderingContext2D,
  view: View,
  { stations, mine }: Ground,
  colour: Colour,
): void {
  const { scale, left, top, density, zoom } = view
  const radius = (zoom < 8.5 ? 1.75 : zoom < 11 ? 3 : 4.5) * density
  const circle = ({ x, y }: Place, size: number): void => {
    context.beginPath()
    context.arc((x - left) * scale, (y - top) * scale, size, 0, 2 * Math.PI)
  }
  context.lineWidth = 1.5 * density
  context.fillStyle = colour('map-halo')
  context.strokeStyle = colour('mark-station')
  for (const station of stations) {
    circle(station, radius)
    context.fill()
    context.stroke()
  }
  const own = mine === null ? undefined : stations[mine]
  if (own === undefined) return
  circle(own, radius + 3 * density)
  context.fillStyle = colour('mark-front')
  context.fill()
  circle(own, radius)
  context.fillStyle = colour('map-halo')
  context.fill()
}

/** Names in order of weight: a later one gives way. */
function labelsOf(
  { stations, mine, counties, towns, language, detailed = false }: Ground,
  { zoom }: View,
  numbers: readonly Label[],
): Label[] {
  const own = mine === null ? undefined : stations[mine]
  const stationLabel = (station: Station): Label => ({
    ...station,
    text: station.name,
    kind: station === own ? 'own' : 'station',
  })
  const named = (shapes: AtlasShapes | null, kind: Label['kind']): Label[] =>
    shapes?.names.map((name) => ({ ...name, text: placeName(language, name), kind })) ?? []
  // A town with the name of a station is redundant.
  const isStation = ({ text }: Label) => stations.some(({ name }) => text.startsWith(name))
  return [
    ...(own === undefined ? [] : [stationLabel(own)]),
    ...(zoom >= 8.6 ? important(stations, zoom).map(stationLabel) : []),
    ...numbers,
    ...(!detailed && zoom >= 7 && zoom < 11.5 ? named(counties, 'county') : []),
    ...(!detailed && zoom >= 10.6 ? named(towns, 'town').filter((town) => !isStation(town)) : []),
  ]
}

/** First and last station, then every second one, then all. */
function important(stations: readonly Station[], zoom: number): Station[] {
  const every = zoom < 9.5 ? 4 : zoom < 10.5 ? 2 : 1
  const first = stations.filter((_, i) => i % every === 0 || i === stations.length - 1)
  return zoom < 9.5 ? first : [...first, ...stations.filter((station) => !first.includes(station))]
}

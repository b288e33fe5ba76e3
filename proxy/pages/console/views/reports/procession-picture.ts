/** The procession of an hour as a picture: its crowd on the map, with named marks. Drawn for paper. */
import type { MapCellEntry } from '#shared/client/index.ts'
import { figure } from '#shared/locales/units.ts'
import { CROWD_STEPS, MARKS, STEP_FROM } from '../../../design/marks.tsx'
import { drawCrowd } from '../../../map/draw-crowd.ts'
import { type Ground, drawGround, drawNames } from '../../../map/draw-ground.ts'
import { type Box, meets } from '../../../map/labels.ts'
import { type Bounds, type Size, boundsOf, fitting, latOf, worldX, worldY } from '../../../map/projection.ts'
import { type Place, crowdOf } from '../../../map/shapes.ts'
import { type View, viewOf } from '../../../map/view.ts'
import { type Seen, boundsOfCells } from '../../map/cells.ts'
import { scaleLine } from '../../map/crowd-map.tsx'
import { ground, mapSource, route } from '../../map/ground.ts'
import { PROCESSION, type ProcessionPlaces, placeWords } from '../../map/place-words.tsx'
import { DENSITY, type Drawing, fontOf, onPaper } from '../../parts/picture.ts'
import { words } from '../../words.ts'

const TYPE = 1.15
const CLOSEST = 13
/** Room for marks and their names, CSS pixels. */
const INSETS = { top: 64, right: 130, bottom: 48, left: 130 }
const SIGN = 32
/** Room for the map's attribution at the lower left. */
const SOURCE_WIDTH = 320
/** Half a name's height, CSS pixels. */
const EDGE = 10
const [NAME, PLACE] = [14, 13]
const LEADING = 1.3
const PAD = 6
/** Signs closer than this are merged. */
const SAME = 22

/** @param size in CSS pixels; the canvas has `DENSITY` pixels for each */
export function drawProcession(shown: Shown, size: Size): HTMLCanvasElement {
  const camera = fitting(boundsInSight(shown), size, INSETS, CLOSEST)
  const view = viewOf(camera, size, DENSITY, TYPE)
  const canvas = layer(view)
  const context = canvas.getContext('2d')!
  const base: Ground = {
    ...ground.peek(),
    stations: ground.peek().stations.filter((station) => isInside(station, view)),
    walkedKm: shown.places.middle?.route_km ?? null,
  }
  drawGround(context, view, base, onPaper)
  draw(context, view, (over) => drawCrowd(over, view, crowdOf(shown.cells), onPaper))
  const signs = signsOf(shown.places, view)
  const scale = { right: size.width - 12, bottom: size.height - 12 }
  context.save()
  context.scale(DENSITY, DENSITY)
  const placed = placeNames(context, signs, size)
  context.restore()
  const covered: Box[] = placed
    .flatMap(({ symbol, box }) => [symbol, box])
    .concat([
      [size.width - 200, size.height - 36, size.width, size.height],
      [0, size.height - 26, mapSource.peek() === null ? 0 : SOURCE_WIDTH, size.height],
    ])
    .map(([left, top, right, bottom]) => [left * DENSITY, top * DENSITY, right * DENSITY, bottom * DENSITY])
  draw(context, view, (over) => drawNames(over, view, { ...base, covered }, null, onPaper))
  context.scale(DENSITY, DENSITY)
  for (const sign of placed) drawSign(context, sign)
  for (const sign of placed) drawName(context, sign)
  drawScale(context, view, scale)
  drawSource(context, size)
  return canvas
}

function isInside({ x, y }: Place, { left, top, scale, width, height }: View): boolean {
  const [atX, atY] = [(x - left) * scale, (y - top) * scale]
  const edge = EDGE * DENSITY
  return atX > edge && atY > edge && atX < width - edge && atY < height - edge
}

function layer({ width, height }: Size): HTMLCanvasElement {
  const canvas = document.createElement('canvas')
  canvas.width = width
  canvas.height = height
  return canvas
}

function draw(
  context: CanvasRenderingContext2D,
  size: Size,
  paint: (over: CanvasRenderingContext2D) => void,
): void {
  const over = layer(size)
  paint(over.getContext('2d')!)
  context.drawImage(over, 0, 0)
}

type MarkName = (typeof PROCESSION)[number]

interface Sign {
  readonly marks: readonly [MarkName, ...MarkName[]]
  readonly x: number
  readonly y: number
  readonly places: readonly string[]
  readonly symbol: Box
}

function signsOf(places: ProcessionPlaces, view: View): Sign[] {
  const signs: Sign[] = []
  for (const mark of PROCESSION) {
    const place = places[mark]
    if (place === null) continue
    const [x, y] = [
      ((worldX(place.lng) - view.left) * view.scale) / DENSITY,
      ((worldY(place.lat) - view.top) * view.scale) / DENSITY,
    ]
    const same = signs.findIndex((sign) => Math.hypot(sign.x - x, sign.y - y) < SAME)
    const { name } = placeWords(place)
    if (same !== -1) {
      const sign = signs[same]!
      signs[same] = { ...sign, marks: [...sign.marks, mark], places: [...sign.places, name] }
    } else {
      const { at } = MARKS[mark]
      const [from, top] = [x - (at[0] * SIGN) / 24, y - (at[1] * SIGN) / 24]
      signs.push({
        marks: [mark],
        x,
        y,
        places: [name],
        symbol: [from, top, from + SIGN, top + SIGN],
      })
    }
  }
  return signs
}

interface Named extends Sign {
  readonly lines: readonly Line[]
  readonly box: Box
}

interface Line {
  readonly text: string
  readonly size: number
  readonly weight: number
}

/** `Front · Middle`, and below it their place; repeated for marks at other places. */
const linesOf = ({ marks, places }: Sign): readonly Line[] =>
  [...new Set(places)].flatMap((place) => {
    const names = marks.filter((_, i) => places[i] === place).map((mark) => words.peek().now[mark])
    return [
      { text: names.join(' · '), size: NAME, weight: 600 },
      { text: place, size: PLACE, weight: 400 },
    ]
  })

function placeNames(context: CanvasRenderingContext2D, signs: readonly Sign[], size: Size): Named[] {
  const taken: Box[] = signs.map(({ symbol }) => symbol)
  return signs.map((sign) => {
    const lines = linesOf(sign)
    const widths = lines.map(({ text, size, weight }) => {
      context.font = fontOf(size, weight)
      return context.measureText(text).width
    })
    const width = Math.max(...widths) + 2 * PAD
    const height = lines.reduce((sum, { size }) => sum + size * LEADING, PAD)
    const [left, top, right, bottom] = sign.symbol
    const spots = [
      [right + 4, top],
      [left - 4 - width, top],
      [right + 4, bottom - 8],
      [left - 4 - width, bottom - 8],
      [right + 4, top - height + 8],
      [left - 4 - width, top - height + 8],
    ] as const
    const boxes = spots.map(([x, y]): Box => [x, y, x + width, y + height])
    const isFree = (box: Box): boolean =>
      box[0] >= 0 &&
      box[1] >= 0 &&
      box[2] <= size.width &&
      box[3] <= size.height &&
      !taken.some((other) => other !== sign.symbol && meets(box, other))
    const box = boxes.find(isFree) ?? boxes[0]!
    taken.push(box)
    return { ...sign, lines, box }
  })
}

const pathOf = (drawing: string): Path2D => new Path2D(drawing)

function drawSign(context: CanvasRenderingContext2D, { marks: [mark], symbol: [left, top] }: Named): void {
  const { fill, cut } = MARKS[mark]
  context.save()
  context.translate(left, top)
  context.scale(SIGN / 24, SIGN / 24)
  context.lineJoin = 'round'
  context.lineWidth = 3
  context.strokeStyle = onPaper('map-halo')
  context.stroke(pathOf(fill))
  context.fillStyle = onPaper(`mark-${mark}`)
  context.fill(pathOf(fill))
  if (cut !== undefined) {
    context.fillStyle = onPaper('surface')
    context.fill(pathOf(cut))
  }
  context.restore()
}

function drawName(context: CanvasRenderingContext2D, { lines, box }: Named): void {
  const [left, top, right, bottom] = box
  context.beginPath()
  context.roundRect(left, top, right - left, bottom - top, 6)
  context.fillStyle = onPaper('surface')
  context.fill()
  context.strokeStyle = onPaper('line')
  context.lineWidth = 1
  context.stroke()
  context.textAlign = 'left'
  context.textBaseline = 'middle'
  context.fillStyle = onPaper('ink')
  let y = top + PAD / 2
  for (const { text, size, weight } of lines) {
    context.font = fontOf(size, weight)
    context.fillText(text, left + PAD, y + (size * LEADING) / 2)
    y += size * LEADING
  }
}

function drawSource(context: CanvasRenderingContext2D, { height }: Size): void {
  const source = mapSource.peek()
  if (source === null) return
  context.font = fontOf(11)
  context.textAlign = 'left'
  context.textBaseline = 'alphabetic'
  context.fillStyle = onPaper('map-label')
  context.fillText(source, 8, height - 8)
}

const MOST_PX = 170
const HIGH = 6

/** The bar ends in the corner at `right`, `bottom`, in CSS pixels. */
function drawScale(
  context: CanvasRenderingContext2D,
  view: View,
  { right, bottom }: { readonly right: number; readonly bottom: number },
): void {
  const { north, south } = view.bounds
  const { widthPx: px, text } = scaleLine(view.zoom, latOf((north + south) / 2), MOST_PX)
  const line = [
    [right - px, bottom - HIGH],
    [right - px, bottom],
    [right, bottom],
    [right, bottom - HIGH],
  ] as const
  const trace = (width: number, colour: string): void => {
    context.beginPath()
    for (const place of line) context.lineTo(...place)
    context.lineWidth = width
    context.strokeStyle = colour
    context.stroke()
  }
  context.lineJoin = 'miter'
  trace(5, onPaper('map-halo'))
  trace(1.5, onPaper('ink'))
  context.font = fontOf(13, 600)
  context.textAlign = 'right'
  context.textBaseline = 'alphabetic'
  context.lineWidth = 3
  context.strokeStyle = onPaper('map-halo')
  context.strokeText(text, right, bottom - HIGH - 3)
  context.fillStyle = onPaper('ink')
  context.fillText(text, right, bottom - HIGH - 3)
}

const E5 = 1e5

export interface Shown {
  readonly cells: readonly MapCellEntry[]
  readonly places: ProcessionPlaces
  /** The section that the operator sees; null: everything. */
  readonly seen: Seen | null
  /** Zooms in on the procession instead of the whole route: for a small picture. */
  readonly near?: boolean
}

/** Share of an hour's points that a small picture shows; the rest are cells of a few people far away. */
const MOST = 0.95

function fullestCells(cells: readonly MapCellEntry[]): readonly MapCellEntry[] {
  const all = cells.reduce((sum, [, , , points]) => sum + points, 0)
  let total = 0
  return cells
    .toSorted(([, , , a], [, , , b]) => b - a)
    .filter(([, , , points]) => {
      const isNeeded = total < all * MOST
      total += points
      return isNeeded
    })
}

/** Bounds of the crowd, marks and stations in the operator's section. */
function boundsInSight({ cells: all, places, seen, near = false }: Shown): Bounds {
  const cells = near ? fullestCells(all) : all
  const [west, south, east, north] = seen?.bbox ?? [-180, -85, 180, 85]
  const isSeen = (lat: number, lng: number): boolean =>
    lng >= west && lng <= east && lat >= south && lat <= north
  const spots = [
    ...cells.map(([lat, lng]) => ({ lat: lat / E5, lng: lng / E5 })),
    ...PROCESSION.flatMap((mark) => places[mark] ?? []),
    ...(near && cells.length > 0 ? [] : (route.peek()?.stations ?? [])),
  ].filter(({ lat, lng }) => isSeen(lat, lng))
  return (
    boundsOf(spots.map(({ lat, lng }) => [worldX(lng), worldY(lat)] as const)) ??
    boundsOfCells(cells) ?? {
      west: worldX(west),
      east: worldX(east),
      north: worldY(north),
      south: worldY(south),
    }
  )
}

const WIDTH = 1_136
const [LEAST_HIGH, MOST_HIGH] = [560, 1_000]
const LEGEND = 44

/** The map with its legend. */
export function mapDrawing(shown: Shown): Drawing {
  const { west, east, north, south } = boundsInSight(shown)
  const high = (WIDTH * (south - north)) / Math.max(east - west, 1e-9)
  const height = Math.round(Math.min(MOST_HIGH, Math.max(LEAST_HIGH, high)))
  const map = drawProcession(shown, { width: WIDTH, height })
  return {
    width: WIDTH,
    height: height + LEGEND,
    draw(context) {
      context.drawImage(map, 0, 0, WIDTH, height)
      context.strokeStyle = onPaper('line')
      context.lineWidth = 1
      context.strokeRect(0, 0, WIDTH, height)
      drawLegend(context, height + LEGEND / 2)
    },
  }
}

function drawLegend(context: CanvasRenderingContext2D, y: number): void {
  context.font = fontOf(14)
  context.textAlign = 'left'
  context.textBaseline = 'middle'
  let x = 0
  const write = (text: string): void => {
    context.fillStyle = onPaper('soft')
    context.fillText(text, x, y)
    x += context.measureText(text).width + 18
  }
  write(words.peek().now.legend.points)
  for (const [i, step] of CROWD_STEPS.entries()) {
    context.fillStyle = onPaper(`crowd-${step}`)
    context.fillRect(x, y - 7, 14, 14)
    x += 20
    write(i === 0 ? `< ${figure(STEP_FROM[1])}` : `≥ ${figure(STEP_FROM[i]!)}`)
  }
}

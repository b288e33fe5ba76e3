/**
 * Draws the crowd. A band along the route shows the number of pilgrims by its width and colour: a circle in a light
 * halo for each cell. Cells off the route, and wide ones, are squares: their pilgrims may be anywhere in them.
 */
import type { Language } from '#shared/contracts/bot.ts'
import { compactFormat } from '#shared/locales/units.ts'
import type { Label } from './labels.ts'
import { latOf } from './projection.ts'
import { EARTH_KM, type Crowd } from './shapes.ts'
import type { Colour, View } from './view.ts'

/** Width of the band by step, 1 first; CSS pixels. */
const BAND_PX = [7, 9, 11.5, 14.5, 18] as const
/** Pilgrims per kilometre of the band at which each step begins. */
const PER_KM_FROM = [0, 8, 40, 200, 1_000] as const
const HALO_PX = 1.5
/** Of circles closer than this only one is drawn, which bounds the work by the size of the screen. */
const APART_PX = 3
/** The width of the band is averaged over three of these squares, so that it changes slowly. */
const SMOOTH_PX = 16

/** Cells of a band that are wider than this are squares. */
const SQUARE_FROM_PX = 18
/** Minimum width of a visible square; wider ones leave a line of ground beside them. */
const LEAST_PX = 3
const GAP_FROM_PX = 7
/** Radius of its corners as a share of its width. */
const ROUND_SHARE = 0.26
const ROUND_MOST_PX = 10
/** Opacity of a square by step: the ground and the route show through a thin crowd. */
const OPACITY = [0.6, 0.7, 0.8, 0.9, 0.97]

/** Grid of squares over the canvas, plus one beyond each edge. */
class Grid {
  readonly columns: number
  readonly rows: number
  /** A square and its eight neighbours, as differences of their keys. */
  readonly near: readonly number[]

  constructor(
    { width, height }: View,
    readonly side: number,
  ) {
    this.columns = Math.ceil(width / side) + 2
    this.rows = Math.ceil(height / side) + 2
    this.near = [-1, 0, 1].flatMap((row) => [-1, 0, 1].map((column) => row * this.columns + column))
  }

  /** Places farther out belong to the square beyond the edge. */
  keyOf(x: number, y: number): number {
    const column = Math.min(this.columns - 1, Math.max(0, Math.floor(x / this.side) + 1))
    const row = Math.min(this.rows - 1, Math.max(0, Math.floor(y / this.side) + 1))
    return row * this.columns + column
  }

  cornerOf(key: number): readonly [x: number, y: number] {
    const column = key % this.columns
    return [(column - 1) * this.side, ((key - column) / this.columns - 1) * this.side]
  }
}

type Centre = readonly [x: number, y: number]

/** Kilometres per canvas pixel in the middle of the view. */
const kmOfPixel = ({ scale, top, height }: View): number =>
  (EARTH_KM * Math.cos((latOf(top + height / 2 / scale) * Math.PI) / 180)) / scale

export function drawCrowd(
  context: CanvasRenderingContext2D,
  view: View,
  { isBand, edges, steps, amounts, count }: Crowd,
  colour: Colour,
): void {
  const { scale, left, top, width, height, density, type } = view
  const px = density * type
  context.clearRect(0, 0, width, height)
  const colours = BAND_PX.map((_, step) => colour(`crowd-${step + 1}`))
  const smooth = new Grid(view, SMOOTH_PX * px)
  const sums = new Float64Array(smooth.columns * smooth.rows)
  const apart = new Grid(view, APART_PX * density)
  const circles = new Map<number, Centre>()
  for (let i = 0; i < count; i++) {
    let west = (edges[i * 4]! - left) * scale
    let north = (edges[i * 4 + 1]! - top) * scale
    let wide = (edges[i * 4 + 2]! - left) * scale - west
    let high = (edges[i * 4 + 3]! - top) * scale - north
    if (west > width || north > height || west + wide < 0 || north + high < 0) continue
    if (isBand && wide <= SQUARE_FROM_PX * px) {
      const [x, y] = [west + wide / 2, north + high / 2]
      sums[smooth.keyOf(x, y)]! += amounts[i]!
      circles.set(apart.keyOf(x, y), [x, y])
      continue
    }
    const least = LEAST_PX * px
    if (wide < least) [west, wide] = [west - (least - wide) / 2, least]
    if (high < least) [north, high] = [north - (least - high) / 2, least]
    const gap = wide > GAP_FROM_PX * px ? 1 : 0
    const step = steps[i]! - 1
    context.fillStyle = colours[step]!
    context.globalAlpha = OPACITY[step]!
    context.beginPath()
    const round = Math.min(wide * ROUND_SHARE, ROUND_MOST_PX * density)
    context.roundRect(
      Math.round(west),
      Math.round(north),
      Math.round(wide) - gap,
      Math.round(high) - gap,
      round,
    )
    context.fill()
  }
  context.globalAlpha = 1
  const km = 3 * SMOOTH_PX * px * kmOfPixel(view)
  // Step plus one; 0: no pilgrims.
  const levels = new Uint8Array(apart.columns * apart.rows)
  for (const [key, [x, y]] of circles) {
    const at = smooth.keyOf(x, y)
    const perKm = smooth.near.reduce((sum, by) => sum + (sums[at + by] ?? 0), 0) / km
    levels[key] = PER_KM_FROM.findLastIndex((from) => perKm >= from) + 1
  }
  // Where all neighbours have at least this level, a square looks like a circle and draws faster.
  const bands = BAND_PX.map(() => ({ circles: [] as Centre[], squares: [] as Centre[] }))
  for (const [key, centre] of circles) {
    const level = levels[key]!
    const band = bands[level - 1]!
    if (apart.near.every((by) => (levels[key + by] ?? 0) >= level)) band.squares.push(apart.cornerOf(key))
    else band.circles.push(centre)
  }
  // Whole pixels, so that no seam shows.
  const side = Math.ceil(apart.side) + 1
  // All halos are below all bands. A single path of all circles would take Chromium several times as long.
  for (const halo of [HALO_PX, 0])
    for (const [step, { circles: round, squares }] of bands.entries()) {
      context.fillStyle = halo > 0 ? colour('map-halo') : colours[step]!
      const radius = (BAND_PX[step]! / 2 + halo) * px
      for (const [x, y] of round) {
        context.beginPath()
        context.arc(x, y, radius, 0, 2 * Math.PI)
        context.fill()
      }
      if (halo === 0) for (const [x, y] of squares) context.fillRect(Math.floor(x), Math.floor(y), side, side)
    }
}

/** Only the largest of several numbers within this distance is shown. */
const NUMBER_PX = 130
const MOST_NUMBERS = 4
const LEAST_NUMBERED = 10

/** The numbers of pilgrims in the dense parts of the crowd. */
export function numbersOf(view: View, { edges, amounts, count }: Crowd, language: Language): Label[] {
  const grid = new Grid(view, NUMBER_PX * view.density * view.type)
  const parts = new Map<number, { sum: number; most: number; at: number }>()
  for (let i = 0; i < count; i++) {
    const x = (edges[i * 4]! - view.left) * view.scale
    const y = (edges[i * 4 + 1]! - view.top) * view.scale
    if (x < 0 || y < 0 || x > view.width || y > view.height) continue
    const key = grid.keyOf(x, y)
    const part = parts.get(key) ?? { sum: 0, most: 0, at: i }
    part.sum += amounts[i]!
    if (amounts[i]! > part.most) [part.most, part.at] = [amounts[i]!, i]
    parts.set(key, part)
  }
  const written = compactFormat(language)
  return [...parts.values()]
    .filter(({ sum }) => sum >= LEAST_NUMBERED)
    .toSorted((a, b) => b.sum - a.sum)
    .slice(0, MOST_NUMBERS)
    .map(({ sum, at }) => ({
      x: (edges[at * 4]! + edges[at * 4 + 2]!) / 2,
      y: (edges[at * 4 + 1]! + edges[at * 4 + 3]!) / 2,
      text: written.format(sum),
      kind: 'number',
    }))
}

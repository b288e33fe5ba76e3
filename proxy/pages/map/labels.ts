/** Names on the map. None covers another, and none is cut by the edge. */
import type { Place } from './shapes.ts'
import type { Colour, View } from './view.ts'

export interface Label extends Place {
  readonly text: string
  readonly kind: 'own' | 'station' | 'number' | 'county' | 'town'
}

interface Placed extends Label {
  /** Canvas pixels of the text's left or right end, and of its middle. */
  readonly px: number
  readonly py: number
  readonly align: 'left' | 'right'
}

const SIZES: Readonly<Record<Label['kind'], number>> = {
  own: 15,
  station: 13,
  number: 13,
  county: 13,
  town: 11,
}
const COLOURS: Readonly<Record<Label['kind'], string>> = {
  own: 'mark-front',
  station: 'ink',
  number: 'crowd-number',
  county: 'map-label',
  town: 'map-label',
}
/** Offset of a station's name to its right. */
const BESIDE_PX = 8

/** Between two names, at their ends. */
const GAP_PX = 4

/** Rough width of a text in CSS pixels: Chinese characters are square, Latin letters about half as wide. */
function widthOf(text: string, size: number): number {
  let width = 0
  for (const character of text) width += character > '\u2e7f' ? size : size * 0.56
  return width
}

/** Left, top, right and bottom in pixels. */
export type Box = readonly [number, number, number, number]

/** Whether two boxes share more than an edge. */
export const meets = ([l, t, r, b]: Box, [left, top, right, bottom]: Box): boolean =>
  l < right && left < r && t < bottom && top < b

/** A mark above the names. */
export interface OverNames extends Place {
  /** Its sign and its name, in CSS pixels from its place. */
  readonly boxes: readonly Box[]
}

/** The boxes of a mark in a view, in pixels of its canvas. */
export function boxesOf(
  { x, y, boxes }: OverNames,
  { left, top, scale, density }: Pick<View, 'left' | 'top' | 'scale' | 'density'>,
): Box[] {
  const [atX, atY] = [(x - left) * scale, (y - top) * scale]
  return boxes.map(([l, t, r, b]) => [
    atX + l * density,
    atY + t * density,
    atX + r * density,
    atY + b * density,
  ])
}

type Spot = Pick<Placed, 'px' | 'py' | 'align'>

/** Possible places of a name, the best first: beside a station, or below it if marks take both sides. */
function spotsOf({ kind }: Label, [x, y]: readonly [number, number], { wide, size, beside }: Sizes): Spot[] {
  if (kind === 'county' || kind === 'town') return [{ px: x - wide / 2, py: y, align: 'left' }]
  return [
    { px: x + beside, py: y, align: 'left' },
    { px: x - beside, py: y, align: 'right' },
    { px: x + beside / 2, py: y + size, align: 'left' },
  ]
}
interface Sizes {
  readonly wide: number
  readonly size: number
  readonly beside: number
}

/** A route that returns on the same road has the same station twice. */
const SAME_WITHIN_PX = 120

/**
 * The labels that fit, in order of weight.
 * @param covered areas covered by other elements
 */
export function distinctLabels(
  view: View,
  labels: readonly Label[],
  marks: readonly OverNames[] = [],
  covered: readonly Box[] = [],
): Placed[] {
  const taken: Box[] = [...covered, ...marks.flatMap((mark) => boxesOf(mark, view))]
  const placed: Placed[] = []
  for (const label of labels) {
    const size = SIZES[label.kind] * view.density * view.type
    const wide = widthOf(label.text, size)
    const x = (label.x - view.left) * view.scale
    const py = (label.y - view.top) * view.scale
    const gap = GAP_PX * view.density
    const within = SAME_WITHIN_PX * view.density
    if (
      placed.some(
        (earlier) => earlier.text === label.text && Math.hypot(earlier.px - x, earlier.py - py) < within,
      )
    )
      continue
    for (const spot of spotsOf(label, [x, py], {
      wide,
      size,
      beside: BESIDE_PX * view.density * view.type,
    })) {
      const from = spot.align === 'left' ? spot.px : spot.px - wide
      const box: Box = [from - gap, spot.py - size * 0.7, from + wide + gap, spot.py + size * 0.7]
      if (box[0] < 0 || box[2] > view.width || box[1] < 0 || box[3] > view.height) continue
      if (taken.some((other) => meets(box, other))) continue
      taken.push(box)
      placed.push({ ...label, ...spot })
      break
    }
  }
  return placed
}

export function drawLabels(
  context: CanvasRenderingContext2D,
  view: View,
  labels: readonly Placed[],
  colour: Colour,
): void {
  context.textBaseline = 'middle'
  context.strokeStyle = colour('map-halo')
  context.lineWidth = 3 * view.density
  for (const { text, kind, px, py, align } of labels) {
    context.textAlign = align
    const strong = kind !== 'county' && kind !== 'town'
    context.font = `${strong ? 600 : 400} ${SIZES[kind] * view.density * view.type}px ${colour('font')}`
    if (kind !== 'county') context.strokeText(text, px, py)
    context.fillStyle = colour(COLOURS[kind])
    context.fillText(text, px, py)
  }
}

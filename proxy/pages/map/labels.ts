/** Names on the map. None covers another. */
import type { Place } from './shapes.ts'
import type { Colour, View } from './view.ts'

export interface Label extends Place {
  readonly text: string
  readonly kind: 'own' | 'station' | 'county' | 'town'
}

interface Placed extends Label {
  /** Canvas pixels of the text's left and middle. */
  readonly px: number
  readonly py: number
}

const SIZES: Readonly<Record<Label['kind'], number>> = { own: 15, station: 13, county: 13, town: 11 }
/** A station's name stands at its right. */
const BESIDE_PX = 8

/** Rough width of a text in CSS pixels: Chinese characters are square, Latin letters about half as wide. */
function widthOf(text: string, size: number): number {
  let width = 0
  for (const character of text) width += character > '\u2e7f' ? size : size * 0.56
  return width
}

/** Those that fit, in the order of their weight. */
export function distinctLabels(view: View, labels: readonly Label[]): Placed[] {
  const taken: [number, number, number, number][] = []
  const placed: Placed[] = []
  for (const label of labels) {
    const size = SIZES[label.kind] * view.density * view.type
    const wide = widthOf(label.text, size)
    const x = (label.x - view.left) * view.scale
    const py = (label.y - view.top) * view.scale
    const beside = label.kind === 'own' || label.kind === 'station'
    const px = beside ? x + BESIDE_PX * view.density : x - wide / 2
    const box = [px - 3, py - size * 0.7, px + wide + 3, py + size * 0.7] as const
    if (box[2] < 0 || box[0] > view.width || box[3] < 0 || box[1] > view.height) continue
    if (taken.some(([l, t, r, b]) => box[0] < r && l < box[2] && box[1] < b && t < box[3])) continue
    taken.push([...box])
    placed.push({ ...label, px, py })
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
  context.textAlign = 'left'
  context.strokeStyle = colour('map-halo')
  context.lineWidth = 3 * view.density
  for (const { text, kind, px, py } of labels) {
    const strong = kind === 'own' || kind === 'station'
    context.font = `${strong ? 600 : 400} ${SIZES[kind] * view.density * view.type}px ${colour('font')}`
    if (kind !== 'county') context.strokeText(text, px, py)
    context.fillStyle = colour(kind === 'own' ? 'mark-front' : strong ? 'ink' : 'map-label')
    context.fillText(text, px, py)
  }
}

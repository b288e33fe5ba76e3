/** Draws places along the way: an icon on a badge above each place, beside each other where several are at one. */
import type { PlaceKind } from '#shared/contracts/event-settings.ts'
import { PLACE_ICONS } from '../design/place-icons.ts'
import type { Place } from './shapes.ts'
import type { Colour, View } from './view.ts'

export interface PlaceOnMap extends Place {
  readonly kind: PlaceKind
}

/** Farther away, badges would hide the crowd. */
const BADGES_ZOOM = 9.5
const BADGE_PX = 20
/** Room for a station's mark below its badges. */
const ABOVE_PX = 7
/** Share of a badge that its icon takes. */
const ICON_SHARE = 0.75
/** Badges of one place beside each other, at most; the list of places has the others. */
const MOST_BESIDE = 4

export function drawPlaces(
  context: CanvasRenderingContext2D,
  view: View,
  places: readonly PlaceOnMap[],
  colour: Colour,
): void {
  if (view.zoom < BADGES_ZOOM) return
  const { scale, left, top, density, type, width, height } = view
  const size = BADGE_PX * density * type
  const drawn: (readonly [x: number, y: number])[] = []
  for (const { kind, x, y } of places) {
    const atY = (y - top) * scale - ABOVE_PX * density - size
    const atX = (x - left) * scale - size / 2
    if (atX < -size || atX > width || atY < -size || atY > height) continue
    const isFree = (fromX: number) =>
      drawn.every(([otherX, otherY]) => Math.abs(otherX - fromX) >= size || Math.abs(otherY - atY) >= size)
    const fromX = Array.from({ length: MOST_BESIDE }, (_, i) => atX + i * size).find(isFree)
    if (fromX === undefined) continue
    drawn.push([fromX, atY])
    drawBadge(context, [fromX, atY, size], density, kind, colour)
  }
}

function drawBadge(
  context: CanvasRenderingContext2D,
  [x, y, size]: readonly [number, number, number],
  density: number,
  kind: PlaceKind,
  colour: Colour,
): void {
  context.beginPath()
  context.rect(x, y, size, size)
  context.fillStyle = colour('map-halo')
  context.fill()
  context.strokeStyle = colour('ink')
  context.lineWidth = density
  context.stroke()
  const margin = (size * (1 - ICON_SHARE)) / 2
  const unit = (size * ICON_SHARE) / 24
  context.save()
  context.translate(x + margin, y + margin)
  context.scale(unit, unit)
  context.fillStyle = colour('ink')
  const icon = new Path2D(PLACE_ICONS[kind])
  // oxlint-disable-next-line unicorn/no-array-fill-with-reference-type -- a canvas, and no array
  context.fill(icon, 'evenodd')
  context.restore()
}

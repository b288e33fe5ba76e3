/**
 * Draws a day's walk over the ground: a brush stroke on foot, dashes for motor transport, dots over a gap, a gold seal
 * for each check-in; other days thin and grey.
 */
import { strokeAll } from './draw-ground.ts'
import type { Place, Shape } from './shapes.ts'
import type { Colour, View } from './view.ts'

/** A walk in the coordinates of the map. */
export interface WayShapes {
  readonly onFoot: readonly Shape[]
  readonly byMotor?: readonly Shape[]
  /** No position between two places; the distance counts as a straight line. */
  readonly gaps?: readonly Shape[]
  /** `counts`: inside the event's area. */
  readonly checkIns?: readonly (Place & { readonly counts: boolean })[]
  readonly first: Place | null
  readonly last: Place | null
}

const STROKE_PX = 5.5
const HALO_PX = 4
const OTHER_PX = 2
const GAP_PX = 3.5
const SEAL_PX = 6
const END_PX = 11

/** The selected day, and the others in a pale tone. */
interface DrawnWay {
  readonly day: WayShapes | null
  readonly others?: readonly WayShapes[]
}

export function drawWay(
  context: CanvasRenderingContext2D,
  view: View,
  { day, others = [] }: DrawnWay,
  colour: Colour,
): void {
  const { density } = view
  context.lineJoin = context.lineCap = 'round'
  for (const { onFoot, byMotor = [], gaps = [] } of others)
    strokeAll(context, view, [...onFoot, ...byMotor, ...gaps], colour('map-label'), OTHER_PX * density)
  if (day === null) return
  const { onFoot, byMotor = [], gaps = [], checkIns = [], first, last } = day
  const halo = (STROKE_PX + HALO_PX) * density
  strokeAll(context, view, [...byMotor, ...gaps, ...onFoot], colour('map-halo'), halo)
  context.setLineDash([1.5 * STROKE_PX * density, 1.5 * STROKE_PX * density])
  strokeAll(context, view, byMotor, colour('ink'), 0.7 * STROKE_PX * density)
  // Dots: a dash without length has round ends.
  context.setLineDash([0, 2 * GAP_PX * density])
  strokeAll(context, view, gaps, colour('map-walked'), GAP_PX * density)
  context.setLineDash([])
  strokeAll(context, view, onFoot, colour('map-walked'), STROKE_PX * density)
  const seal = (place: Place, size: number, fill: string, edge: string): void =>
    drawSeal(context, view, place, { size, fill: colour(fill), edge: colour(edge) })
  // Marks at one place are merged: the last one covers those below it.
  const isApart = ({ x, y }: Place): boolean =>
    last === null || Math.hypot(x - last.x, y - last.y) * view.scale > END_PX * density
  if (first !== null && isApart(first)) seal(first, END_PX - 3, 'map-halo', 'map-walked')
  for (const place of checkIns.filter(isApart))
    seal(place, SEAL_PX, place.counts ? 'gold-fill' : 'map-halo', 'ink')
  if (last !== null) seal(last, END_PX, 'map-walked', 'map-halo')
}

function drawSeal(
  context: CanvasRenderingContext2D,
  { scale, left, top, density }: View,
  { x, y }: Place,
  { size, fill, edge }: { readonly size: number; readonly fill: string; readonly edge: string },
): void {
  context.beginPath()
  context.arc((x - left) * scale, (y - top) * scale, size * density, 0, 2 * Math.PI)
  context.fillStyle = fill
  context.fill()
  context.strokeStyle = edge
  context.lineWidth = 2 * density
  context.stroke()
}

/** A day's way in the coordinates of the map: parts on foot, parts by a motor, check-ins. Pure functions. */
import { isPlace } from '#shared/core/rules/geo.ts'
import type { WayShapes } from '../../map/draw-way.ts'
import { type Bounds, boundsOf, worldX, worldY } from '../../map/projection.ts'
import { type Place, type Shape, shapeOf } from '../../map/shapes.ts'
import { metresBetween } from '../recording/position-filter.ts'
import type { DayOfWay } from './kept-days.ts'

interface BoundedWay extends Required<WayShapes> {
  /** Null: the day has no place. */
  readonly bounds: Bounds | null
}

/** A way to draw. Of the stretches only those with carbon matter: rides. */
export interface DrawnWay extends Pick<DayOfWay, 'line' | 'checkins'> {
  readonly stretches: readonly Pick<DayOfWay['stretches'][number], 'from' | 'to' | 'carbon_kg'>[]
}

type Fix = DayOfWay['line'][number]

const placed = ({ lat, lng }: { readonly lat: number; readonly lng: number }): Place => ({
  x: worldX(lng),
  y: worldY(lat),
})

type Kind = 'onFoot' | 'byMotor' | 'gaps'

/** Shorter silences and rests are not gaps. */
const GAP_MS = 600_000
const GAP_M = 300

const isGap = (from: Fix, to: Fix): boolean =>
  Date.parse(to.t) - Date.parse(from.t) > GAP_MS && metresBetween(from, to) > GAP_M

/** Splits the line where the mode changes. A split point belongs to both parts. */
function partsOf({ line, stretches }: DrawnWay): Record<Kind, Fix[][]> {
  const motor = stretches.filter(({ carbon_kg: kg }) => kg > 0)
  const parts: Record<Kind, Fix[][]> = { onFoot: [], byMotor: [], gaps: [] }
  let [last, lastKind]: [Fix[] | null, string] = [null, '']
  for (let i = 1; i < line.length; i++) {
    const [from, to] = [line[i - 1]!, line[i]!]
    // The distance to a place belongs to the stretch in which the place lies; the place before may be from
    // before a rest.
    const isRide = motor.some((ride) => ride.from < to.t && to.t <= ride.to)
    const kind = isRide ? 'byMotor' : isGap(from, to) ? 'gaps' : 'onFoot'
    if (last === null || kind !== lastKind) parts[kind].push((last = [from]))
    last.push(to)
    lastKind = kind
  }
  return parts
}

const shapesOf = (parts: readonly (readonly Fix[])[]): Shape[] =>
  parts.map((part) => shapeOf(part.map(({ lng, lat }) => [lng, lat] as const)))

export function wayShapes(day: DrawnWay): BoundedWay {
  const { onFoot, byMotor, gaps } = partsOf(day)
  const [first, last] = [day.line[0], day.line.at(-1)]
  const checkIns = day.checkins
    .filter(isPlace)
    .map((checkIn) => ({ ...placed(checkIn), counts: checkIn.in_range }))
  // A check-in far from the route would shrink the way to a blot.
  const seen = [...day.line.map(placed), ...checkIns.filter(({ counts }) => counts)]
  const shown = seen.length > 0 ? seen : checkIns
  return {
    onFoot: shapesOf(onFoot),
    byMotor: shapesOf(byMotor),
    gaps: shapesOf(gaps),
    checkIns,
    first: first === undefined ? null : placed(first),
    last: last === undefined ? null : placed(last),
    bounds: boundsOf(shown.map(({ x, y }) => [x, y] as const)),
  }
}

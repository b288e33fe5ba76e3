/** Fits the event's route into a square. */
import { METRES_PER_DEGREE } from '#shared/core/rules/geo.ts'
import { simplifyLine } from '#shared/core/map/simplify-line.ts'
import type { CardRoute, Place } from './card-facts.ts'

interface Point {
  readonly x: number
  readonly y: number
}

export interface RouteOutline {
  /** Path data of the whole route, and of the stretch that was passed. */
  readonly whole: string
  readonly passed: string
  readonly stations: readonly (Point & { readonly isPassed: boolean })[]
}

/** Details below this size are not visible. */
const TOLERANCE_PX = 0.5

/** Rounded; never a negative zero. */
const tenths = (px: number): number => Math.round(px * 10) / 10 + 0

/** Metres east and south of a place; an event's route is small enough for a flat map. */
function projection({ lat: lat0, lng: lng0 }: Place): (place: Place) => Point {
  const scale = Math.cos((lat0 * Math.PI) / 180)
  return ({ lat, lng }) => {
    // A route that crosses the date line takes the shorter way.
    const east = ((((lng - lng0 + 180) % 360) + 360) % 360) - 180
    return { x: east * scale * METRES_PER_DEGREE, y: (lat0 - lat) * METRES_PER_DEGREE }
  }
}

const pathOf = (line: readonly Point[]): string =>
  simplifyLine(line, TOLERANCE_PX)
    .map(({ x, y }, i) => `${i === 0 ? 'M' : 'L'}${x} ${y}`)
    .join('')

/** Fits a route into a square of `side` pixels, centred, north up. */
export function outlineOf({ lines, passed, stations }: CardRoute, side: number): RouteOutline {
  const project = projection(lines[0]![0]!)
  const bounds = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity }
  for (const place of lines.flat()) {
    const { x, y } = project(place)
    bounds.left = Math.min(bounds.left, x)
    bounds.right = Math.max(bounds.right, x)
    bounds.top = Math.min(bounds.top, y)
    bounds.bottom = Math.max(bounds.bottom, y)
  }
  const scale = side / Math.max(bounds.right - bounds.left, bounds.bottom - bounds.top)
  const place = (at: Place): Point => {
    const { x, y } = project(at)
    return {
      x: tenths(side / 2 + (x - (bounds.left + bounds.right) / 2) * scale),
      y: tenths(side / 2 + (y - (bounds.top + bounds.bottom) / 2) * scale),
    }
  }
  return {
    whole: lines.map((line) => pathOf(line.map(place))).join(''),
    passed: passed.map((line) => pathOf(line.map(place))).join(''),
    stations: stations.map((station) => ({ ...place(station), isPassed: station.isPassed })),
  }
}

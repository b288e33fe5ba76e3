/**
 * The round map: the event's route, with the stretch between stations that the pilgrim passed. It is public, so nothing
 * on it is measured from the pilgrim's positions. Without a route it shows a path into the hills.
 */
import { box, drawing, type Element } from '#shared/runtime/picture-renderer/element.ts'
import type { CardRoute, Place } from './card-facts.ts'
import { GOLD, GOLD_DEEP, GOLD_LIGHT, type Palette } from './card-backdrops.ts'
import { METRES_PER_DEGREE, simplifyLine } from '#shared/core/rules/geo.ts'

const SIDE = 440
/** Padding between the rim and the route. */
const INSET = 84
/** Beyond this number only passed stations are drawn: the others would hide the route. */
const MAX_STATIONS = 40

/** The emblem of an event without a route: a winding path into the hills. */
const HILL_PATH = 'M120 330 C 190 300, 330 315, 300 255 S 150 230, 185 180 S 285 160, 240 105'
const EMBLEM = `
  <g fill="none" stroke-linecap="round">
    <path d="${HILL_PATH}" stroke="${GOLD_DEEP}" stroke-opacity=".55" stroke-width="14"/>
    <path d="${HILL_PATH}" stroke="${GOLD_LIGHT}" stroke-width="6"/>
  </g>
  <path d="M240 105 v-44 l30 11 l-30 11" fill="${GOLD}" stroke="${GOLD}" stroke-width="5" stroke-linejoin="round"/>`

/** Contour lines, as on a hiking map: the same hills on every card. */
const CONTOURS = [
  'M22 250 C 90 215, 130 262, 196 236 S 300 180, 418 214',
  'M16 212 C 96 172, 150 226, 214 198 S 310 136, 424 176',
  'M38 300 C 110 262, 160 306, 222 284 S 330 232, 412 262',
  'M66 346 C 140 312, 190 346, 250 328 S 340 290, 386 312',
  'M34 156 C 110 128, 158 170, 226 150 S 330 100, 404 126',
  'M92 92 C 150 82, 190 112, 240 102 S 320 70, 352 84',
  'M118 388 C 178 366, 226 384, 272 374 S 330 352, 344 358',
]

const routeOf = ({ whole, passed, stations }: RouteOutline): string => {
  const ahead = stations.length > MAX_STATIONS ? [] : stations.filter(({ isPassed }) => !isPassed)
  return `
  <g transform="translate(${INSET} ${INSET})" fill="none" stroke-linecap="round" stroke-linejoin="round">
    <path d="${whole}" stroke="${GOLD_DEEP}" stroke-opacity=".75" stroke-width="5"/>
    ${ahead.map(({ x, y }) => `<circle cx="${x}" cy="${y}" r="4" fill="${GOLD_DEEP}"/>`).join('')}
    <path d="${passed}" stroke="${GOLD_DEEP}" stroke-opacity=".55" stroke-width="16"/>
    <path d="${passed}" stroke="${GOLD_LIGHT}" stroke-width="7"/>
    ${stations
      .filter(({ isPassed }) => isPassed)
      .map(
        ({ x, y }) =>
          `<circle cx="${x}" cy="${y}" r="4.5" fill="#fff" stroke="${GOLD_DEEP}" stroke-width="2.5"/>`,
      )
      .join('')}
  </g>`
}

/** SVG of the map, 440 units a side. */
const routeMapSvg = (route: CardRoute | null, { deep, base }: Palette): string => `
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 440 440">
  <defs><clipPath id="c"><circle cx="220" cy="220" r="203"/></clipPath></defs>
  <circle cx="220" cy="220" r="206" fill="${deep}"/>
  <g clip-path="url(#c)" fill="none" stroke="${base}" stroke-width="2.5">${CONTOURS.map((d) => `<path d="${d}"/>`).join('')}</g>
  <circle cx="220" cy="220" r="206" fill="none" stroke="${GOLD}" stroke-width="7"/>
  <circle cx="220" cy="220" r="197" fill="none" stroke="${GOLD_DEEP}" stroke-width="2"/>
  ${route === null ? EMBLEM : routeOf(outlineOf(route, SIDE - 2 * INSET))}
</svg>`

export const routeMap = (
  route: CardRoute | null,
  colours: Palette,
  place: { readonly left: number; readonly top: number; readonly size: number },
): Element =>
  box(
    { position: 'absolute', left: place.left, top: place.top, width: place.size, height: place.size },
    drawing(routeMapSvg(route, colours), place.size, place.size, { position: 'absolute', left: 0, top: 0 }),
  )

interface Point {
  readonly x: number
  readonly y: number
}

interface RouteOutline {
  /** Path data of the whole route, and of the passed stretch. */
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

/** The map of the page of a link: the line of the last hours, the route and its stations, as SVG. */
import type { Language } from '#shared/contracts/bot.ts'
import { METRES_PER_DEGREE } from '#shared/rules/geo.ts'
import { placeName } from '#shared/rules/languages.ts'
import { escapeMarkup } from '#shared/http/escape-markup.ts'
import { simplifyLine } from '#shared/map/simplify-line.ts'
import type { Place, Route, Station } from '#shared/map/walking-route.ts'
import type { Fix } from './read-way.ts'
import { groundOf, partsInside, pathOf, type Point } from './share-ground.ts'

/** Left, top, right, bottom in pixels. */
type Box = readonly [number, number, number, number]

const STATION_PX = 22
const TOWN_PX = 19
/** Half of a station's circle, and of the pilgrim's mark, with some space. */
const CIRCLE = 10
const PILGRIM = 22
const BESIDE = 16
/** A name below the pilgrim, who stands at the station. */
const BELOW = 38

interface PlacedName extends Point {
  readonly text: string
  readonly anchor: 'start' | 'middle' | 'end'
}
interface Named extends Point {
  readonly text: string
}

/** Chinese characters are square, Latin letters about half as wide. */
function widthOf(text: string, size: number): number {
  let width = 0
  for (const character of text) width += character > '\u2e7f' ? size : size * 0.6
  return width
}

function boxOf({ x, y, text, anchor }: PlacedName, size: number): Box {
  const width = widthOf(text, size)
  const left = anchor === 'start' ? x : anchor === 'end' ? x - width : x - width / 2
  return [left - 3, y - size, left + width + 3, y + size * 0.3]
}

const squareAround = ({ x, y }: Point, half: number): Box => [x - half, y - half, x + half, y + half]
const meet = (a: Box, b: Box): boolean => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]

/** @param size of the picture */
function placeNames(
  { stations, towns, here }: { stations: readonly Named[]; towns: readonly Named[]; here: Point },
  { width, height }: { readonly width: number; readonly height: number },
): { readonly stations: PlacedName[]; readonly towns: PlacedName[] } {
  const taken: Box[] = [squareAround(here, PILGRIM), ...stations.map((one) => squareAround(one, CIRCLE))]
  const fits = (box: Box): boolean =>
    box[0] >= 0 && box[2] <= width && box[1] >= 0 && box[3] <= height && !taken.some((one) => meet(box, one))
  const place = (candidates: readonly PlacedName[], size: number): PlacedName[] => {
    const found = candidates.find((one) => fits(boxOf(one, size)))
    if (found === undefined) return []
    taken.push(boxOf(found, size))
    return [found]
  }
  return {
    stations: stations.flatMap(({ x, y, text }) =>
      place(
        [7, BELOW, -BELOW / 2].flatMap((down) => [
          { x: x + BESIDE, y: y + down, text, anchor: 'start' as const },
          { x: x - BESIDE, y: y + down, text, anchor: 'end' as const },
        ]),
        STATION_PX,
      ),
    ),
    // A town whose station is named says nothing more.
    towns: towns
      .filter((town) => !stations.some(({ text }) => town.text.startsWith(text)))
      .flatMap((town) => place([{ ...town, anchor: 'middle' }], TOWN_PX)),
  }
}

const MAP_SIZE = { width: 640, height: 500 } as const
const MARGIN = 62
const TOLERANCE = 0.8
/** Metres; a smaller map would show the noise of the phone. */
const LEAST_SPAN_M = 900
/** Straight from the pilgrim. */
const NEAR_M = 6_000

type Projection = (place: Place) => Point

interface Frame {
  readonly project: Projection
  readonly pxPerM: number
}

interface ShareMap {
  /** Ordered by time; the last one is where the pilgrim is. */
  readonly line: readonly Fix[]
  readonly isHeard: boolean
  readonly route: Route | null
  readonly stations: readonly Station[]
  /** The stations before and after the pilgrim; they are on the map if they are not far. */
  readonly around: readonly (Station | null)[]
  readonly nameOf: (station: Station) => string
  readonly label: string
  readonly language: Language
}

/**
 * Draws the map. The line has at least one point.
 * @returns the picture, and whether it shows data of the atlas, whose source is then named
 */
export function shareMap(map: ShareMap): { readonly svg: string; readonly hasAtlas: boolean } {
  const { line, isHeard, route, stations, around, nameOf, label, language } = map
  const frame = frameOf(line, around)
  const { project } = frame
  const ground = groundOnce(line, project)
  const shown = stations
    .map((station) => ({ ...project(station), text: nameOf(station) }))
    .filter(({ x, y }) => x >= 0 && x <= MAP_SIZE.width && y >= 0 && y <= MAP_SIZE.height)
  const here = project(line.at(-1)!)
  const walked = pathOf(simplifyLine(line.map(project), TOLERANCE))
  const start = project(line[0]!)
  const towns = (ground?.names ?? []).map((name) => ({ ...name, text: placeName(language, name) }))
  const names = placeNames({ stations: shown, towns, here }, MAP_SIZE)
  const svg = `<svg class="map" viewBox="0 0 ${MAP_SIZE.width} ${MAP_SIZE.height}" role="img" aria-label="${escapeMarkup(label)}">
<rect class="${ground === null ? 'land' : 'sea'}" width="${MAP_SIZE.width}" height="${MAP_SIZE.height}"/>
${waves()}
${ground === null ? '' : ground.svg}
${route === null ? '' : routeOf(route, project)}
${names.towns.map((name) => textOf(name, 'town')).join('')}
${line.length < 2 ? '' : `<path class="walked-edge" d="${walked}"/><path class="walked" d="${walked}"/><circle class="start" cx="${start.x}" cy="${start.y}" r="7"/>`}
${shown.map(({ x, y }) => `<circle class="station" cx="${x}" cy="${y}" r="7"/>`).join('')}${names.stations.map((name) => textOf(name, 'name')).join('')}
${isHeard ? `<circle class="pulse" cx="${here.x}" cy="${here.y}" r="15"/>` : ''}<circle class="${isHeard ? 'here' : 'here silent'}" cx="${here.x}" cy="${here.y}" r="13"/><circle class="here-eye" cx="${here.x}" cy="${here.y}" r="4.5"/>
${scaleOf(frame)}
</svg>`
  return { svg, hasAtlas: ground !== null }
}

type Ground = ReturnType<typeof groundOf>
const drawn = new WeakMap<readonly Fix[], Ground>()

/** Many look at the same map: what lies below its line is drawn once. */
function groundOnce(line: readonly Fix[], project: Projection): Ground {
  const known = drawn.get(line)
  if (known !== undefined) return known
  const made = groundOf({ ...MAP_SIZE, project })
  drawn.set(line, made)
  return made
}

const round = (value: number): number => Math.round(value * 10) / 10

/** Fits the line, and the stations around the pilgrim if they are near, into the picture. North is up. */
function frameOf(line: readonly Fix[], around: readonly (Station | null)[]): Frame {
  const last = line.at(-1)!
  const shrink = Math.cos((last.lat * Math.PI) / 180)
  const metres = ({ lat, lng }: Place): Point => ({
    x: (lng - last.lng) * shrink * METRES_PER_DEGREE,
    y: (last.lat - lat) * METRES_PER_DEGREE,
  })
  const shown = line.map(metres)
  const span = (points: readonly Point[], axis: 'x' | 'y') => {
    const values = points.map((point) => point[axis])
    return [Math.min(...values), Math.max(...values)] as const
  }
  const lengthM = Math.hypot(
    ...(['x', 'y'] as const).map((axis) => span(shown, axis)[1] - span(shown, axis)[0]),
  )
  for (const station of around) {
    const there = station === null ? null : metres(station)
    if (there !== null && Math.hypot(there.x, there.y) <= Math.max(NEAR_M, 1.5 * lengthM)) shown.push(there)
  }
  const [[west, east], [north, south]] = [span(shown, 'x'), span(shown, 'y')]
  const pxPerM = Math.min(
    (MAP_SIZE.width - 2 * MARGIN) / Math.max(east - west, LEAST_SPAN_M),
    (MAP_SIZE.height - 2 * MARGIN) / Math.max(south - north, LEAST_SPAN_M * 0.6),
  )
  const [midX, midY] = [(west + east) / 2, (north + south) / 2]
  return {
    pxPerM,
    project(place) {
      const { x, y } = metres(place)
      return {
        x: round(MAP_SIZE.width / 2 + (x - midX) * pxPerM),
        y: round(MAP_SIZE.height / 2 + (y - midY) * pxPerM),
      }
    },
  }
}

/** The parts of the route that cross the picture. */
function routeOf(route: Route, project: Projection): string {
  const parts = route.lines.flatMap((line) => partsInside(line.map(project), { ...MAP_SIZE, project }))
  const d = parts.map(pathOf).join('')
  return d === '' ? '' : `<path class="route-edge" d="${d}"/><path class="route" d="${d}"/>`
}

const textOf = ({ x, y, text, anchor }: PlacedName, kind: string): string =>
  `<text class="${kind}" x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${escapeMarkup(text)}</text>`

/** A length of 1, 2 or 5 times a power of ten, about a sixth of the picture. */
function scaleOf({ pxPerM }: Frame): string {
  const most = MAP_SIZE.width / 5 / pxPerM
  const unit = 10 ** Math.floor(Math.log10(most))
  const metres = [5, 2, 1].map((step) => step * unit).find((length) => length <= most)!
  const width = round(metres * pxPerM)
  const [x, y] = [MAP_SIZE.width - 28, MAP_SIZE.height - 26]
  const text = metres >= 1_000 ? `${metres / 1_000} km` : `${metres} m`
  return `<path class="scale" d="M${round(x - width)} ${y - 6}v6H${x}v-6"/><text class="scale-text" x="${x}" y="${y - 12}" text-anchor="end">${text}</text>`
}

/** Lines of a calm ground, as on the cards. */
function waves(): string {
  const rows = Array.from({ length: 7 }, (_, i) => {
    const y = 40 + i * 70
    return `M-20 ${y}c70-26 130-26 200 0s130 26 200 0 130-26 200 0 130 26 260 0`
  })
  return `<path class="waves" d="${rows.join('')}"/>`
}

/** Fits the walked track into a square. */
import { simplifyLine } from '#shared/map/simplify-line.ts'
import type { Fix } from './card-facts.ts'

interface Point {
  readonly x: number
  readonly y: number
}

export interface Outline {
  /** Path data of the line. */
  readonly path: string
  readonly start: Point
  readonly end: Point
  readonly pxPerM: number
  /** Places along the line, `waymarkM` apart: 4 to 10 of them, fewer on a line that bends back on itself. */
  readonly waymarks: readonly Point[]
}

/** Details below this size are not visible. */
const TOLERANCE_PX = 0.5
/** A shorter track is only GPS noise. */
const MIN_SPAN_M = 60
const METRES_PER_DEGREE = 111_195

/** Metres east and south of the first point; a card's track is small enough for a flat map. */
function projected(track: readonly Fix[]): Point[] {
  const { lat: lat0, lng: lng0 } = track[0]!
  const scale = Math.cos((lat0 * Math.PI) / 180)
  return track.map(({ lat, lng }) => {
    // A track that crosses the date line takes the shorter way.
    const east = ((((lng - lng0 + 180) % 360) + 360) % 360) - 180
    return { x: east * scale * METRES_PER_DEGREE, y: (lat0 - lat) * METRES_PER_DEGREE }
  })
}

/** Rounded; never a negative zero. */
const tenths = (px: number): number => Math.round(px * 10) / 10 + 0

/**
 * Fits a track into a square of `side` pixels, centred, north up.
 * @returns null for a track that is too short
 */
export function outlineOf(track: readonly Fix[], side: number): Outline | null {
  if (track.length < 2) return null
  const flat = projected(track)
  const bounds = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity }
  for (const { x, y } of flat) {
    bounds.left = Math.min(bounds.left, x)
    bounds.right = Math.max(bounds.right, x)
    bounds.top = Math.min(bounds.top, y)
    bounds.bottom = Math.max(bounds.bottom, y)
  }
  const span = Math.max(bounds.right - bounds.left, bounds.bottom - bounds.top)
  if (span < MIN_SPAN_M) return null
  const scale = side / span
  const centreX = (bounds.left + bounds.right) / 2
  const centreY = (bounds.top + bounds.bottom) / 2
  const placed = flat.map(({ x, y }) => ({
    x: tenths(side / 2 + (x - centreX) * scale),
    y: tenths(side / 2 + (y - centreY) * scale),
  }))
  const line = simplifyLine(placed, TOLERANCE_PX)
  const path = line.map(({ x, y }, i) => `${i === 0 ? 'M' : 'L'}${x} ${y}`).join('')
  return { path, start: line[0]!, end: line.at(-1)!, pxPerM: scale, waymarks: waymarksOf(line, scale) }
}

/** The largest of 1, 2 and 5 times a power of ten that is at most the value. */
export function roundLength(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  const first = value / power
  return power * (first >= 5 ? 5 : first >= 2 ? 2 : 1)
}

/** Places at equal distances along a line. @param pxPerM pixels a metre */
function waymarksOf(line: readonly Point[], pxPerM: number): Point[] {
  const lengths = line.slice(1).map((to, i) => Math.hypot(to.x - line[i]!.x, to.y - line[i]!.y))
  const length = lengths.reduce((sum, px) => sum + px, 0)
  const every = roundLength(length / pxPerM / 4) * pxPerM
  const marks: Point[] = []
  let before = 0
  for (const [i, px] of lengths.entries()) {
    const [from, to] = [line[i]!, line[i + 1]!]
    for (let at = every * (marks.length + 1); at <= before + px && at < length - every / 4; at += every) {
      const share = (at - before) / px
      marks.push({ x: tenths(from.x + (to.x - from.x) * share), y: tenths(from.y + (to.y - from.y) * share) })
    }
    before += px
  }
  return marks
}

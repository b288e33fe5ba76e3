/** The number of pilgrims on each cell of the map, where the cell has room for it. */
import { compactFormat } from '#shared/locales/units.ts'
import type { OverNames } from '../../map/labels.ts'
import type { Scene } from '../../map/painter.ts'
import type { Crowd } from '../../map/shapes.ts'
import { consoleLanguage } from '../words.ts'

/** Size of the type; in a cell with many pilgrims smaller, but still legible. */
const TYPE_PX = 11
const LEAST_PX = 8.5
/** Width of a digit in the size of its type, and what is left free beside a number. */
const DIGIT_SHARE = 0.62
const BESIDE_PX = 1
const HALO_PX = 2.5
/** In cells wider than this, numbers stand in a corner: single pilgrims are shown in the rest. */
const CORNER_FROM_PX = 40
const CORNER_PX = 5
/** More numbers than this in sight are read by nobody, and cost time. */
const MOST = 500

interface Numbered {
  /** Centre and width in world coordinates. */
  readonly x: number
  readonly y: number
  readonly wide: number
  readonly text: string
}

/** `1.2K` from a thousand on, as short as the language writes it. */
function numberedOf({ count, edges, amounts }: Crowd): Numbered[] {
  const written = compactFormat(consoleLanguage.value)
  return Array.from({ length: count }, (_, i) => {
    const [west, north, east, south] = edges.subarray(i * 4, i * 4 + 4) as unknown as Edges
    return {
      x: (west + east) / 2,
      y: (north + south) / 2,
      wide: east - west,
      text: written.format(amounts[i]!),
    }
  })
}

type Edges = readonly [number, number, number, number]

/** Room that the sign of a mark takes above its place. */
const MARK_PX = { half: 18, high: 36 }

/** Whether a number would stand below the sign of a mark. */
const isUnder = ({ x, y }: Numbered, mark: OverNames, scale: number, px: number): boolean => {
  const above = (mark.y - y) * scale
  return Math.abs(mark.x - x) * scale < MARK_PX.half * px && above > -px && above < MARK_PX.high * px
}

/**
 * @param marks what stands over the cells: a number below one is not drawn
 * @param isCrowded single pilgrims are shown, too: only the corners of large cells have room
 * @returns what draws the numbers over the cells
 */
export function numbersOver(
  crowd: Crowd,
  marks: readonly OverNames[],
  isCrowded: boolean,
): NonNullable<Scene['over']> {
  const numbers = numberedOf(crowd)
  return (context, { scale, left, top, width, height, density, type }, colour) => {
    const px = density * type
    const hasCorner = ({ wide }: Numbered) => wide * scale > CORNER_FROM_PX * px
    /** The largest type with which a number fits into its cell. */
    const sizeOf = ({ wide, text }: Numbered) =>
      Math.min(TYPE_PX * px, (wide * scale - 2 * BESIDE_PX * px) / (text.length * DIGIT_SHARE))
    const hasRoom = (one: Numbered) =>
      sizeOf(one) >= LEAST_PX * px && !marks.some((mark) => isUnder(one, mark, scale, px))
    const inSight = ({ x, y }: Numbered) =>
      Math.abs((x - left) * scale - width / 2) < width / 2 &&
      Math.abs((y - top) * scale - height / 2) < height / 2
    const shown = numbers.filter((one) => inSight(one) && (hasCorner(one) || (!isCrowded && hasRoom(one))))
    if (shown.length > MOST) return
    context.textBaseline = 'middle'
    context.lineJoin = 'round'
    context.lineWidth = HALO_PX * px
    context.strokeStyle = colour('map-halo')
    context.fillStyle = colour('ink')
    for (const one of shown) {
      context.font = `600 ${sizeOf(one).toFixed(1)}px ${colour('font')}`
      const aside = hasCorner(one) ? (one.wide * scale) / 2 - CORNER_PX * px : 0
      const below = hasCorner(one) ? aside - (TYPE_PX / 2) * px : 0
      context.textAlign = hasCorner(one) ? 'left' : 'center'
      const at = [(one.x - left) * scale - aside, (one.y - top) * scale - below] as const
      context.strokeText(one.text, ...at)
      context.fillText(one.text, ...at)
    }
  }
}

/** Places the names of a link's map so that none covers another, a station or the pilgrim. */
import type { Point } from './share-ground.ts'

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

export interface PlacedName extends Point {
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

const around = ({ x, y }: Point, half: number): Box => [x - half, y - half, x + half, y + half]
const meet = (a: Box, b: Box): boolean => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]

/** @param size of the picture */
export function placeNames(
  { stations, towns, here }: { stations: readonly Named[]; towns: readonly Named[]; here: Point },
  { width, height }: { readonly width: number; readonly height: number },
): { readonly stations: PlacedName[]; readonly towns: PlacedName[] } {
  const taken: Box[] = [around(here, PILGRIM), ...stations.map((one) => around(one, CIRCLE))]
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

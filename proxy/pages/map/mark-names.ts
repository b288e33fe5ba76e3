/**
 * Places the names of the marks: none covers another, a button or the edge. The palanquin comes first, then the front,
 * the tail and the middle. A mark that would overlap another one joins its name.
 */
import { type Box, meets, type OverNames } from './labels.ts'
import type { Places } from './marks-on-map.ts'
import { worldX, worldY } from './projection.ts'

/** Converts a place to CSS pixels of the map's frame. */
export type Placing = (lng: number, lat: number) => { readonly x: number; readonly y: number }

const BY_WEIGHT = ['palanquin', 'front', 'tail', 'middle'] as const
/** Signs closer than this share of their width are merged. */
const SAME_SHARE = 0.7
/** Distance between two names, CSS pixels. */
const GAP_PX = 2

type Side = 'left' | 'right'

/** Elements over a map, such as its buttons, in CSS pixels of its frame. */
export function boxesOver(frame: Element): Box[] {
  const { left, top } = frame.getBoundingClientRect()
  return [...frame.ownerDocument.querySelectorAll('[data-over-map]')].map((over) => {
    const box = over.getBoundingClientRect()
    return [box.left - left, box.top - top, box.right - left, box.bottom - top] as const
  })
}

/** A mark in sight. Boxes are in CSS pixels from its place. */
interface Shown {
  readonly element: HTMLElement
  readonly spot: { readonly lat: number; readonly lng: number }
  readonly x: number
  readonly y: number
  readonly sign: Box
}

function shownOf(element: HTMLElement, place: Placing, spot: Shown['spot']): Shown {
  const style = getComputedStyle(element.querySelector('svg')!)
  const [left, top, width, height] = [style.left, style.top, style.width, style.height].map(Number.parseFloat)
  return { element, spot, ...place(spot.lng, spot.lat), sign: [left!, top!, left! + width!, top! + height!] }
}

/** The box of a mark's name on a side. The left is the mirror of the right. */
function nameBox({ element }: Shown, side: Side): Box {
  const name = element.querySelector('span')!
  const style = getComputedStyle(name)
  // The style defines it in `em` of the name.
  const away = Number.parseFloat(style.getPropertyValue('--name-away')) * Number.parseFloat(style.fontSize)
  const top = Number.parseFloat(style.top)
  const [from, to] = side === 'right' ? [away, away + name.offsetWidth] : [-away - name.offsetWidth, -away]
  return [from - GAP_PX, top - GAP_PX, to + GAP_PX, top + name.offsetHeight + GAP_PX]
}

/**
 * Merges overlapping marks, and chooses the side of each name.
 * @param frame the map, which contains the marks
 * @returns areas that the names on the map leave free
 */
export function nameMarks(frame: HTMLElement, place: Placing, marks: Places): readonly OverNames[] {
  const shown: Shown[] = []
  for (const mark of BY_WEIGHT) {
    const element = frame.querySelector<HTMLElement>(`[data-mark="${mark}"]`)
    const spot = marks[mark]
    if (element === null) continue
    element.classList.remove('joined')
    const name = element.querySelector('span')!
    delete name.dataset['also']
    if (!spot) continue
    const candidate = shownOf(element, place, spot)
    const width = candidate.sign[2] - candidate.sign[0]
    const same = shown.find(({ x, y }) => Math.hypot(x - candidate.x, y - candidate.y) < width * SAME_SHARE)
    if (same === undefined) shown.push(candidate)
    else {
      element.classList.add('joined')
      const first = same.element.querySelector('span')!
      // The middle has the lowest weight, but precedes the tail.
      first.dataset['also'] = ` · ${name.textContent}${first.dataset['also'] ?? ''}`
    }
  }
  const reader = frame.querySelector<HTMLElement>('[data-mark="me"]')
  // The reader's own mark is never merged.
  if (reader !== null && marks.me) shown.push(shownOf(reader, place, marks.me))
  return chooseSides(frame, shown)
}

function chooseSides(frame: HTMLElement, shown: readonly Shown[]): OverNames[] {
  const onFrame = ({ x, y }: Shown, [l, t, r, b]: Box): Box => [x + l, y + t, x + r, y + b]
  const signs = new Map(shown.map((entry) => [entry, onFrame(entry, entry.sign)]))
  const taken: Box[] = [...boxesOver(frame), ...signs.values()]
  return shown.map((entry) => {
    const side = (['right', 'left'] as const).find((side) => {
      const box = onFrame(entry, nameBox(entry, side))
      const isWhole = box[0] >= 0 && box[2] <= frame.clientWidth
      return isWhole && !taken.some((other) => other !== signs.get(entry) && meets(box, other))
    })
    const boxes = side === undefined ? [entry.sign] : [entry.sign, nameBox(entry, side)]
    if (side !== undefined) taken.push(onFrame(entry, boxes[1]!))
    entry.element.dataset['name'] = side ?? 'none'
    return { x: worldX(entry.spot.lng), y: worldY(entry.spot.lat), boxes }
  })
}

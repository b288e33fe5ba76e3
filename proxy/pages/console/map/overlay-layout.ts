/** Places what stands over a map: marks and their names, single places, their card, the scale. */
import type { Signal } from '@preact/signals'
import type { OverNames } from '../../map/labels.ts'
import type { Places } from '../../map/marks-on-map.ts'
import type { Seen } from './crowd-camera.ts'
import { dotAt, placeCard } from './dot-card.tsx'
import { type Pointing, type Dot, type Place, placeOver, type Way } from './over-map.tsx'
import { worldX, worldY } from '../../map/projection.ts'
import { number } from '../clock.ts'

/** What is placed. */
interface Over {
  readonly dots?: readonly Dot[]
  readonly way?: Way
  readonly marks?: Places
  readonly onDot?: (id: string) => void
  readonly renderCard?: unknown
}

/** Width of the scale, at most, in sizes of its type. */
const SCALE_EM = 10

const NOTHING: Way = []
const NO_DOTS: readonly Dot[] = []
const NO_MARKS: Places = {}

/** What lies over the map at its edge, in pixels of its frame. */
const coveredOf = (frame: HTMLElement) =>
  [...frame.parentElement!.querySelectorAll<HTMLElement>('[data-over-map]')].map(
    ({ offsetLeft: left, offsetTop: top, offsetWidth: width, offsetHeight: height }) =>
      [left, top, left + width, top + height] as const,
  )

/** Places what stands over a map that was painted, and tells what the names on it leave free. */
export function arrange(
  frame: HTMLElement,
  place: Place,
  { way = NOTHING, marks = NO_MARKS, dots = NO_DOTS }: Over,
  free: Signal<readonly OverNames[]>,
): void {
  placeOver(frame, place, way)
  moveCard(frame, () => place, dots)
  const found = nameMarks(frame, place, marks, coveredOf(frame))
  nameDots(frame)
  // The same ones draw nothing again.
  if (JSON.stringify(found) !== JSON.stringify(free.peek())) free.value = found
}

/** Chooses what was tapped. A tap beside everything closes the card. */
export function chooseAt(
  { dots = NO_DOTS, renderCard, onDot }: Over,
  pointing: Pointing,
  place: Place,
  at: { readonly x: number; readonly y: number },
): void {
  const dot = dotAt(dots, place, at)
  if (renderCard === undefined) {
    if (dot !== null) onDot?.(dot.id)
  } else if (dot === null) pointing.close()
  else pointing.keep(dot.id, false)
}

/** Shows how long a way on the map is. */
export function showScale(frame: HTMLElement, { zoom, bbox: [, south, , north] }: Seen): void {
  const line = frame.parentElement!.querySelector<HTMLElement>('.map-scale')!
  const { widthPx, text } = scaleLine(
    zoom,
    (south + north) / 2,
    SCALE_EM * Number.parseFloat(getComputedStyle(line).fontSize),
  )
  line.style.width = `${widthPx}px`
  line.textContent = text
}

/** Moves the open card with its place. */
export function moveCard(frame: HTMLElement, place: () => Place, dots: readonly Dot[]): void {
  const card = frame.parentElement?.querySelector<HTMLElement>('.dot-card')
  const dot = card && dots.find(({ id }) => id === card.dataset['of'])
  if (card && dot) placeCard(card, place(), dot)
}

// Names over the map that do not cover each other. Of the marks, the front comes first, then the tail, then the middle:
// one that would lie on another joins its name. Names of single pilgrims have the room that is left.

const BY_WEIGHT = ['front', 'tail', 'middle'] as const
/** Nearer than this share of a sign's width, two signs are one. */
const SAME_SHARE = 0.7
/** Between two names, CSS pixels. */
const GAP_PX = 2

/** Left, top, right and bottom in CSS pixels of the frame. */
type Box = readonly [number, number, number, number]
type Side = 'left' | 'right'

const meets = ([l, t, r, b]: Box, [left, top, right, bottom]: Box): boolean =>
  l < right && left < r && t < bottom && top < b

/** A mark in sight. */
interface Shown {
  readonly element: HTMLElement
  readonly x: number
  readonly y: number
  readonly symbol: Box
}

/** Where the sign of a mark is, when the mark stands at its new place. */
function shownOf(element: HTMLElement, { x, y }: ReturnType<Place>): Shown {
  const sign = element.querySelector('svg')!
  const style = getComputedStyle(sign)
  const [left, top] = [x + Number.parseFloat(style.left), y + Number.parseFloat(style.top)]
  const [width, height] = [Number.parseFloat(style.width), Number.parseFloat(style.height)]
  return { element, x, y, symbol: [left, top, left + width, top + height] }
}

/** Where the name of a mark would be at a side. The left is the mirror of the right. */
function nameBox({ element, x, y }: Shown, side: Side): Box {
  const name = element.querySelector('span')!
  const away = Number.parseFloat(getComputedStyle(element).getPropertyValue('--name-away')) * remOf(element)
  const top = y + Number.parseFloat(getComputedStyle(name).top)
  const [from, to] = side === 'right' ? [away, away + name.offsetWidth] : [-away - name.offsetWidth, -away]
  return [x + from - GAP_PX, top - GAP_PX, x + to + GAP_PX, top + name.offsetHeight + GAP_PX]
}

const remOf = (element: HTMLElement): number =>
  Number.parseFloat(getComputedStyle(element.ownerDocument.documentElement).fontSize)

/**
 * Joins marks that lie on each other, and chooses the side of each name.
 * @param frame the map, which holds the marks
 * @param covered what lies over the map, such as its buttons
 * @returns what the names on the map leave free
 */
function nameMarks(
  frame: HTMLElement,
  place: Place,
  marks: Places,
  covered: readonly Box[],
): readonly OverNames[] {
  const shown: Shown[] = []
  for (const mark of BY_WEIGHT) {
    const element = frame.querySelector<HTMLElement>(`[data-mark="${mark}"]`)
    const spot = marks[mark]
    if (element === null) continue
    element.classList.remove('joined')
    const name = element.querySelector('span')!
    delete name.dataset['also']
    if (!spot) continue
    const mine = shownOf(element, place(spot.lng, spot.lat))
    const width = mine.symbol[2] - mine.symbol[0]
    const same = shown.find(({ x, y }) => Math.hypot(x - mine.x, y - mine.y) < width * SAME_SHARE)
    if (same === undefined) shown.push(mine)
    else {
      element.classList.add('joined')
      const first = same.element.querySelector('span')!
      // The middle comes last by its weight, and stands before the tail.
      first.dataset['also'] = ` · ${name.textContent}${first.dataset['also'] ?? ''}`
    }
  }
  return chooseSides(frame, shown, covered, marks)
}

function chooseSides(
  frame: HTMLElement,
  shown: readonly Shown[],
  covered: readonly Box[],
  marks: Places,
): OverNames[] {
  const taken: Box[] = [...covered, ...shown.map(({ symbol }) => symbol)]
  const inside: Box = [0, 0, frame.clientWidth, frame.clientHeight]
  return shown.map((one) => {
    const sides = (['right', 'left'] as const).filter((side) => {
      const box = nameBox(one, side)
      const isWhole = box[0] >= inside[0] && box[2] <= inside[2]
      return isWhole && !taken.some((other) => other !== one.symbol && meets(box, other))
    })
    const name = sides[0] ?? 'none'
    if (name !== 'none') taken.push(nameBox(one, name))
    one.element.dataset['name'] = name
    const spot = marks[one.element.dataset['mark'] as keyof Places]!
    return { x: worldX(spot.lng), y: worldY(spot.lat), name }
  })
}

/** Hides the names of single pilgrims that would cover a mark, its name, or the name of somebody before them. */
function nameDots(frame: HTMLElement): void {
  const origin = frame.getBoundingClientRect()
  const dots = [...frame.querySelectorAll<HTMLElement>('.person-dot')]
  for (const dot of dots) dot.classList.remove('nameless')
  const boxOf = (element: Element): Box => {
    const { left, top, right, bottom } = element.getBoundingClientRect()
    return [left - origin.left, top - origin.top, right - origin.left, bottom - origin.top]
  }
  const taken = [...frame.querySelectorAll('.marker:not([hidden], .joined) > *')].map(boxOf)
  // All are measured before any is hidden: the page is laid out once.
  const names = dots.map((dot) => boxOf(dot.querySelector('span')!))
  for (const [i, box] of names.entries())
    if (taken.some((other) => meets(box, other))) dots[i]!.classList.add('nameless')
    else taken.push(box)
}

// The scale of a map: a line of a round length.

const EARTH_M = 40_075_017
const ROUND = [5, 2, 1] as const

/** The largest round length that a line has room for: 1, 2 or 5 of a power of ten. */
function scaleLine(
  zoom: number,
  lat: number,
  mostPx: number,
): { readonly widthPx: number; readonly text: string } {
  const metresPerPx = (EARTH_M * Math.cos((lat * Math.PI) / 180)) / (256 * 2 ** zoom)
  const most = mostPx * metresPerPx
  const power = 10 ** Math.floor(Math.log10(most))
  const metres = power * (ROUND.find((share) => share * power <= most) ?? 1)
  return {
    widthPx: metres / metresPerPx,
    text: metres < 1_000 ? `${number(metres)} m` : `${number(metres / 1_000)} km`,
  }
}

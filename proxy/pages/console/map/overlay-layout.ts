/** Places what stands over a map: single places, their card, the scale. */
import { figure } from '#shared/locales/units.ts'
import { type Box, meets } from '../../map/labels.ts'
import type { Placing } from '../../map/mark-names.ts'
import { scaleOf } from '../../map/projection.ts'
import { EARTH_KM } from '../../map/shapes.ts'
import type { Seen } from './crowd-camera.ts'
import { inKm, units } from '../words.ts'
import { dotAt, placeCard } from './dot-card.tsx'
import { type Pointing, type Dot, placeDots } from './over-map.tsx'

/** What is placed. */
interface Over {
  readonly dots?: readonly Dot[]
  readonly onDot?: (id: string) => void
  readonly renderCard?: unknown
}

/** Width of the scale, at most, in sizes of its type. */
const SCALE_EM = 10

const NO_DOTS: readonly Dot[] = []

/** Places what stands over a map that was painted, after its marks. */
export function arrange(frame: HTMLElement, place: Placing, { dots = NO_DOTS }: Over): void {
  placeDots(frame, place)
  moveCard(frame, () => place, dots)
  nameDots(frame)
}

/** Chooses what was tapped. A tap beside everything closes the card. */
export function chooseAt(
  { dots = NO_DOTS, renderCard, onDot }: Over,
  pointing: Pointing,
  place: Placing,
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
export function moveCard(frame: HTMLElement, place: () => Placing, dots: readonly Dot[]): void {
  const card = frame.parentElement?.querySelector<HTMLElement>('.dot-card')
  const dot = card && dots.find(({ id }) => id === card.dataset['of'])
  if (card && dot) placeCard(card, place(), dot)
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

const ROUND = [5, 2, 1] as const

/** The largest round length that a line has room for: 1, 2 or 5 of a power of ten. */
function scaleLine(
  zoom: number,
  lat: number,
  mostPx: number,
): { readonly widthPx: number; readonly text: string } {
  const metresPerPx = (EARTH_KM * 1_000 * Math.cos((lat * Math.PI) / 180)) / scaleOf(zoom)
  const most = mostPx * metresPerPx
  const power = 10 ** Math.floor(Math.log10(most))
  const metres = power * (ROUND.find((share) => share * power <= most) ?? 1)
  return {
    widthPx: metres / metresPerPx,
    text: metres < 1_000 ? `${figure(metres)} ${units.value.m}` : inKm(metres / 1_000),
  }
}

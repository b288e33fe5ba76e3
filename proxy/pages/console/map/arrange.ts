/** Places what stands over a map: marks and their names, single places, their card, the scale. */
import type { Signal } from '@preact/signals'
import type { OverNames } from '../../map/labels.ts'
import type { Places } from '../../map/marks-on-map.ts'
import type { Seen } from './crowd-camera.ts'
import { dotAt, placeCard } from './dot-card.tsx'
import { scaleLine } from './map-scale.ts'
import { nameDots, nameMarks } from './name-marks.ts'
import { type Dot, type Place, placeOver, type Way } from './over-map.tsx'
import type { Pointing } from './pointing.ts'

/** What is placed. */
export interface Over {
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

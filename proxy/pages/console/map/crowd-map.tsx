/** A map of cells, with marks and single pilgrims on top. */
import type { MapCellEntry } from '#shared/client/index.ts'
import { compactFormat, figure } from '#shared/locales/units.ts'
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { type Seen, boundsOfCells, cameraFor, freeSpot, isInSight, seenBy } from './cells.ts'
import {
  type Dot,
  DotCard,
  Dots,
  type Pointing,
  type Way,
  dotAt,
  placeCard,
  placeDots,
  usePointing,
} from './over-map.tsx'
import { ground, loadGround, mapSource, route } from './ground.ts'
import { followed, leaderName } from '../event.ts'
import { consoleLanguage, inKm, units, words } from '../words.ts'
import { Button } from '../../design/button.tsx'
import { Symbol } from '../../design/symbol.tsx'
import { drawInColours } from '../../frame/theme.ts'
import { drawWay } from '../../map/draw-way.ts'
import { type Box, type OverNames, boxesOf, meets } from '../../map/labels.ts'
import { MapFrame, placing } from '../../map/map-frame.ts'
import { Controls, World } from '../../map/map-parts.tsx'
import type { Placing } from '../../map/mark-names.ts'
import type { Places } from '../../map/marks-on-map.ts'
import type { Scene } from '../../map/painter.ts'
import { type Bounds, type Camera, boundsOf, scaleOf, worldX, worldY } from '../../map/projection.ts'
import { type Crowd, EARTH_KM, crowdOf, shapeOf } from '../../map/shapes.ts'

interface CrowdMapProps {
  readonly cells: readonly MapCellEntry[]
  readonly marks?: Places
  /** Time of the last position if the palanquin is silent; null: its mark is current. */
  readonly silentSince?: string | null
  readonly walkedKm?: number | null
  readonly dots?: readonly Dot[]
  /** A way drawn over the crowd; the map is fitted to it. */
  readonly way?: Way
  readonly chosen?: string | null
  /** The map moves there when this changes. */
  readonly goTo?: { readonly lat: number; readonly lng: number } | null
  readonly onDot?: (id: string) => void
  /** Content of a dot's card. Without it dots have no card, and selecting one calls `onDot`. */
  readonly renderCard?: (dot: Dot) => ComponentChildren
  /** Cells show their numbers if they fit. */
  readonly numbered?: boolean
  /** @param isMoved the operator has moved the map, so it no longer follows the crowd */
  readonly onSeen?: (seen: Seen, isMoved: boolean) => void
  /** The map stays where it is when the cells change. */
  readonly keep?: boolean
  readonly stale?: boolean
  readonly label: string
}

/**
 * Coarse cells arrive first, then the map is fitted to finer ones. After that it moves only when the crowd
 * leaves it.
 */
const FITS = 3

const NOTHING: Way = []
const NO_DOTS: readonly Dot[] = []
const NO_MARKS: Places = {}
const NO_NAMES: readonly OverNames[] = []

const wayOf = (way: Way) => {
  const line = shapeOf(way)
  const at = (i: number) => ({ x: line.at.at(i)!, y: line.at.at(i + 1)! })
  return { onFoot: [line], first: at(0), last: at(-2) }
}

const boundsOfWay = (way: Way) => boundsOf(way.map(([lng, lat]) => [worldX(lng), worldY(lat)] as const))

/**
 * Bounds of everything shown; null: nothing is known. If all points of a way are left out, the bounds of the
 * points.
 */
const extentOf = (cells: readonly MapCellEntry[], way: Way, dots: readonly Dot[]) =>
  boundsOfWay(way) ??
  boundsOfCells(cells) ??
  boundsOfWay(dots.flatMap(({ kind, lng, lat }) => (kind === undefined ? [] : [[lng, lat] as const]))) ??
  boundsOf((route.value?.stations ?? []).map(({ lat, lng }) => [worldX(lng), worldY(lat)] as const))

function useCamera(props: CrowdMapProps, pointing: Pointing) {
  const frame = useRef<HTMLElement>(null)
  const camera = useRef<MapFrame | null>(null)
  const place = useRef<Placing | null>(null)
  const bounds = useRef<Bounds | null>(null)
  const free = useSignal(NO_NAMES)
  const latest = useRef(props)
  latest.current = props
  useEffect(() => {
    void loadGround()
    const element = frame.current!
    const placingNow = (seen: Camera): Placing =>
      placing(seen, { width: element.clientWidth, height: element.clientHeight })
    const made = new MapFrame(element, {
      scene: { ground: ground.peek(), crowd: null },
      home: (size) => cameraFor(bounds.current, size),
      onNamed: (names) => (free.value = names),
      onPainted: (painted, size) => {
        place.current = placing(painted, size)
        arrange(element, place.current, latest.current)
        const seen = seenBy(painted, size)
        showScale(element, seen)
        latest.current.onSeen?.(seen, made.isMoved)
      },
      onMoved: (moved) => moveCard(element, () => placingNow(moved), latest.current.dots ?? NO_DOTS),
      onTap: (x, y) =>
        chooseAt(latest.current, pointing, placingNow(made.camera), {
          x: x + element.clientWidth / 2,
          y: y + element.clientHeight / 2,
        }),
      onShared: (tried) => showHint(element, tried),
    })
    camera.current = made
    const stopColouring = drawInColours(() => made.recolour())
    return () => {
      stopColouring()
      made.stop()
    }
  }, [free, pointing])
  const { dots, marks = NO_MARKS } = props
  useEffect(() => camera.current?.marks(marks), [marks])
  const spoken = consoleLanguage.value
  useEffect(() => {
    if (place.current !== null && frame.current !== null)
      arrange(frame.current, place.current, latest.current)
  }, [dots, marks, spoken])
  useShown(props, frame, camera, place)
  return { frame, camera, bounds, free, place }
}

function useShown(
  { dots = NO_DOTS, chosen = null }: CrowdMapProps,
  frame: { readonly current: HTMLElement | null },
  camera: { readonly current: MapFrame | null },
  place: { readonly current: Placing | null },
): void {
  useEffect(() => {
    const dot = dots.find(({ id }) => id === chosen)
    const [element, map] = [frame.current, camera.current]
    if (dot === undefined || element === null || map === null || place.current === null) return
    const { x, y } = place.current(dot.lng, dot.lat)
    if (x >= 0 && y >= 0 && x <= element.clientWidth && y <= element.clientHeight) return
    map.look({ ...map.camera, x: worldX(dot.lng), y: worldY(dot.lat) })
  }, [chosen, dots, frame, camera, place])
}

/** Single pilgrims are shown from zoom 15. */
const GO_ZOOM = 16

function useGoTo(goTo: CrowdMapProps['goTo'], camera: { readonly current: MapFrame | null }): void {
  useEffect(() => {
    if (goTo != null) camera.current?.look({ x: worldX(goTo.lng), y: worldY(goTo.lat), zoom: GO_ZOOM })
  }, [goTo, camera])
}

export function CrowdMap(props: CrowdMapProps) {
  const { cells, walkedKm = null, way = NOTHING, keep = false, stale = false, label } = props
  const { silentSince = null } = props
  const { numbered = false, renderCard, dots = NO_DOTS } = props
  const pointing = usePointing()
  const { frame, camera, bounds, free, place } = useCamera(props, pointing)
  useGoTo(props.goTo, camera)
  const base = ground.value
  const crowd = useMemo(() => crowdOf(cells), [cells])
  const names = free.value
  const isCrowded = dots.length > 0
  const shown = useMemo(
    () => ({ ...base, walkedKm, marks: numbered && !isCrowded ? [...names, ...roomOf(crowd)] : names }),
    [base, walkedKm, names, crowd, numbered, isCrowded],
  )
  const over = useMemo((): NonNullable<Scene['over']> => {
    const numbers = numbered ? numbersOver(crowd, names, isCrowded) : null
    const day = way.length < 2 ? null : wayOf(way)
    return (context, view, colour) => {
      numbers?.(context, view, colour)
      drawWay(context, view, { day }, colour)
    }
  }, [crowd, numbered, names, isCrowded, way])
  useEffect(() => camera.current?.update({ ground: shown, crowd, over }), [camera, shown, crowd, over])
  const fits = useRef(0)
  const latest = useRef(props.dots)
  latest.current = props.dots
  useEffect(() => {
    const map = camera.current
    // Once the map was moved, only visible cells are loaded.
    if (map === null || (keep ? fits.current > 0 : map.isMoved)) return
    bounds.current =
      keep && base.route !== null ? base.route.bounds : extentOf(cells, way, latest.current ?? NO_DOTS)
    if (fits.current >= FITS && isInSight(bounds.current, map.camera, map.size)) return
    if (cells.length > 0) fits.current++
    map.refit()
  }, [camera, bounds, cells, way, base.route, keep])
  const showAll = () => {
    // The next response contains the cells of everyone.
    fits.current = 0
    camera.current?.follow()
  }
  const { tail, middle, front } = words.value.now
  return (
    <section
      class={stale ? 'map old' : 'map'}
      aria-label={label}
      data-palanquin={silentSince === null ? undefined : 'silent'}
    >
      <section ref={frame} class="map-frame" tabIndex={0} aria-label={words.value.now.mapHelp}>
        <World
          names={{ tail, middle, front, palanquin: leaderName.value }}
          isRelay={followed.value === 'relay'}
        >
          <Dots {...props} pointing={renderCard === undefined ? undefined : pointing} />
        </World>
      </section>
      <Controls camera={() => camera.current}>
        <Button icon label={words.value.now.showAll} onClick={showAll}>
          <Symbol of="route" />
        </Button>
      </Controls>
      <MapHint />
      <small class="map-scale" data-over-map />
      {renderCard === undefined ? null : (
        <DotCard dots={dots} pointing={pointing} place={place} onLeave={(id) => focusDot(frame.current, id)}>
          {renderCard}
        </DotCard>
      )}
      {mapSource.value === null ? null : (
        <small class="map-source" data-over-map>
          {mapSource.value}
        </small>
      )}
    </section>
  )
}

/** Focuses a dot, so that keyboard navigation continues there. */
const focusDot = (frame: HTMLElement | null, of: string): void =>
  [...(frame?.querySelectorAll<HTMLElement>('[data-id]') ?? [])]
    .find(({ dataset }) => dataset['id'] === of)
    ?.focus()

// Hint on how to move a map over which the page scrolls, shown after a failed attempt.

const SHOWN_MS = 1_600

const timers = new WeakMap<Element, Timer>()

type Timer = ReturnType<typeof setTimeout>

/** Keyboard users have their own keys, named in the map's label, so screen readers skip this. */
export const MapHint = () => (
  <p class="map-hint" aria-hidden="true">
    <span class="wheel">{words.value.now.wheelHint}</span>
    <span class="touch">{words.value.now.touchHint}</span>
  </p>
)

export function showHint(frame: HTMLElement | null, tried: 'wheel' | 'touch'): void {
  const hint = frame?.parentElement?.querySelector<HTMLElement>('.map-hint')
  if (hint === null || hint === undefined) return
  hint.dataset['tried'] = tried
  clearTimeout(timers.get(hint))
  timers.set(
    hint,
    setTimeout(() => delete hint.dataset['tried'], SHOWN_MS),
  )
}

// Numbers of pilgrims on the map's cells, if they fit.

/** Font size; smaller in a cell with many pilgrims, but still legible. */
const TYPE_PX = 11
const LEAST_PX = 8.5
/** Width of a digit as a share of the font size, and the gap beside a number. */
const DIGIT_SHARE = 0.62
const BESIDE_PX = 1
const HALO_PX = 2.5
/** In wider cells, numbers move to a corner: single pilgrims are shown in the rest. */
const CORNER_FROM_PX = 40
const CORNER_PX = 5
/** More visible numbers than this are unreadable and slow. */
const MOST = 500

interface Numbered {
  /** Centre and width in world coordinates. */
  readonly x: number
  readonly y: number
  readonly wide: number
  readonly text: string
}

/** `1.2K` from a thousand, in the language's compact format. */
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

/** Room that the names of stations leave for the numbers. */
const roomOf = (crowd: Crowd): readonly OverNames[] =>
  crowd.count > MOST
    ? []
    : numberedOf(crowd).map(({ x, y, text }) => {
        const half = (text.length * TYPE_PX * DIGIT_SHARE) / 2
        return { x, y, boxes: [[-half, -TYPE_PX / 2, half, TYPE_PX / 2]] }
      })

/**
 * @param marks overlays of the cells: a number that one would cover moves beside it or is omitted
 * @param isCrowded single pilgrims are shown as well, so only the corners of large cells are free
 * @returns a function that draws the numbers over the cells
 */
function numbersOver(
  crowd: Crowd,
  marks: readonly OverNames[],
  isCrowded: boolean,
): NonNullable<Scene['over']> {
  const numbers = numberedOf(crowd)
  return (context, { scale, left, top, width, height, density, type }, colour) => {
    const px = density * type
    const hasCorner = ({ wide }: Numbered) => wide * scale > CORNER_FROM_PX * px
    const sizeOf = ({ wide, text }: Numbered) =>
      Math.min(TYPE_PX * px, (wide * scale - 2 * BESIDE_PX * px) / (text.length * DIGIT_SHARE))
    const hasRoom = (label: Numbered) => sizeOf(label) >= LEAST_PX * px
    const inSight = ({ x, y }: Numbered) =>
      Math.abs((x - left) * scale - width / 2) < width / 2 &&
      Math.abs((y - top) * scale - height / 2) < height / 2
    const shown = numbers.filter(
      (label) => inSight(label) && (hasCorner(label) || (!isCrowded && hasRoom(label))),
    )
    if (shown.length > MOST) return
    context.textBaseline = 'middle'
    context.lineJoin = 'round'
    context.lineWidth = HALO_PX * px
    context.strokeStyle = colour('map-halo')
    context.fillStyle = colour('ink')
    context.textAlign = 'center'
    const taken = marks.flatMap((mark) => boxesOf(mark, { left, top, scale, density }))
    for (const label of shown) {
      const size = sizeOf(label)
      const [wide, high] = [size * label.text.length * DIGIT_SHARE, size]
      const aside = hasCorner(label) ? (label.wide * scale) / 2 - CORNER_PX * px : 0
      const x = (label.x - left) * scale - (aside === 0 ? 0 : aside - wide / 2)
      const y = (label.y - top) * scale - (aside === 0 ? 0 : aside - high / 2)
      const at = freeSpot([x, y], [wide, high], taken)
      // Part of a number would be misread.
      if (at === null) continue
      context.font = `600 ${size.toFixed(1)}px ${colour('font')}`
      context.strokeText(label.text, ...at)
      context.fillText(label.text, ...at)
    }
  }
}

type Over = Pick<CrowdMapProps, 'dots' | 'onDot' | 'renderCard'>

/** Maximum width of the scale, in units of its font size. */
const SCALE_EM = 10

function arrange(frame: HTMLElement, place: Placing, { dots = NO_DOTS }: Over): void {
  placeDots(frame, place)
  moveCard(frame, () => place, dots)
  nameDots(frame)
}

function chooseAt(
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

function showScale(frame: HTMLElement, { zoom, bbox: [, south, , north] }: Seen): void {
  const line = frame.parentElement!.querySelector<HTMLElement>('.map-scale')!
  const { widthPx, text } = scaleLine(
    zoom,
    (south + north) / 2,
    SCALE_EM * Number.parseFloat(getComputedStyle(line).fontSize),
  )
  line.style.width = `${widthPx}px`
  line.textContent = text
}

function moveCard(frame: HTMLElement, place: () => Placing, dots: readonly Dot[]): void {
  const card = frame.parentElement?.querySelector<HTMLElement>('.dot-card')
  const dot = card && dots.find(({ id }) => id === card.dataset['of'])
  if (card && dot) placeCard(card, place(), dot)
}

/** Hides names of single pilgrims that would cover a mark, its name, or an earlier name. */
function nameDots(frame: HTMLElement): void {
  const origin = frame.getBoundingClientRect()
  const dots = [...frame.querySelectorAll<HTMLElement>('.person-dot')]
  for (const dot of dots) dot.classList.remove('nameless')
  const boxOf = (element: Element): Box => {
    const { left, top, right, bottom } = element.getBoundingClientRect()
    return [left - origin.left, top - origin.top, right - origin.left, bottom - origin.top]
  }
  const taken = [...frame.querySelectorAll('.marker:not([hidden], .joined) > *')].map(boxOf)
  // Measure all before hiding any, so that the page is laid out once.
  const names = dots.map((dot) => boxOf(dot.querySelector('span')!))
  for (const [i, box] of names.entries())
    if (taken.some((other) => meets(box, other))) dots[i]!.classList.add('nameless')
    else taken.push(box)
}

const ROUND = [5, 2, 1] as const

/** The largest round length that fits a line: 1, 2 or 5 times a power of ten. */
export function scaleLine(
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

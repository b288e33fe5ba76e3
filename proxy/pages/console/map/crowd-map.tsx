/** A map of cells, with marks and single pilgrims over it. */
import { useSignal } from '@preact/signals'
import type { MapCellEntry } from '#shared/client/index.ts'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { Button } from '../../design/button.tsx'
import { Symbol } from '../../design/symbol.tsx'
import { drawInColours } from '../../frame/theme.ts'
import { drawWay } from '../../map/draw-way.ts'
import type { OverNames } from '../../map/labels.ts'
import { MapFrame, placing } from '../../map/map-frame.ts'
import { Controls, World } from '../../map/map-parts.tsx'
import type { Places } from '../../map/marks-on-map.ts'
import type { Scene } from '../../map/painter.ts'
import { type Bounds, boundsOf, type Camera, worldX, worldY } from '../../map/projection.ts'
import { crowdOf, shapeOf } from '../../map/shapes.ts'
import { consoleLanguage, words } from '../words.ts'
import { arrange, chooseAt, moveCard, showScale } from './overlay-layout.ts'
import { numbersOver } from './cell-numbers.ts'
import { boundsOfCells } from './cells.ts'
import { cameraFor, isInSight, type Seen, seenBy } from './crowd-camera.ts'
import { DotCard } from './dot-card.tsx'
import type { Placing } from '../../map/mark-names.ts'
import { type Pointing, usePointing, type Dot, Dots, type Way } from './over-map.tsx'
import { ground, loadGround, mapSource, route } from './ground.ts'

interface CrowdMapProps {
  readonly cells: readonly MapCellEntry[]
  readonly marks?: Places
  readonly walkedKm?: number | null
  readonly dots?: readonly Dot[]
  /** A way, drawn over the crowd. The map then shows it as a whole. */
  readonly way?: Way
  readonly chosen?: string | null
  readonly onDot?: (id: string) => void
  /** What the card of a dot says. Without it a dot has no card, and `onDot` is told that it is chosen. */
  readonly renderCard?: (dot: Dot) => ComponentChildren
  /** Cells show their numbers where they have room. */
  readonly numbered?: boolean
  /** @param isMoved the operator has moved the map: it does not go on by itself */
  readonly onSeen?: (seen: Seen, isMoved: boolean) => void
  /** The map stays where it is when the cells change. */
  readonly keep?: boolean
  /** What is shown is old. */
  readonly stale?: boolean
  /** What the map shows, in words. */
  readonly label: string
}

/** Coarse cells come first; then the map is fitted to finer ones. Later it moves when the crowd leaves it. */
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

/** Where everything is; null: nothing is known. Of a way whose points are all left out, the points. */
const extentOf = (cells: readonly MapCellEntry[], way: Way, dots: readonly Dot[]) =>
  boundsOfWay(way) ??
  boundsOfCells(cells) ??
  boundsOfWay(dots.flatMap(({ kind, lng, lat }) => (kind === undefined ? [] : [[lng, lat] as const]))) ??
  boundsOf((route.value?.stations ?? []).map(({ lat, lng }) => [worldX(lng), worldY(lat)] as const))

/** Makes the camera of a map when it is shown. */
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

/** Moves the map when the chosen dot is out of sight. */
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

export function CrowdMap(props: CrowdMapProps) {
  const { cells, walkedKm = null, way = NOTHING, keep = false, stale = false, label } = props
  const { numbered = false, renderCard, dots = NO_DOTS } = props
  const pointing = usePointing()
  const { frame, camera, bounds, free, place } = useCamera(props, pointing)
  const base = ground.value
  const crowd = useMemo(() => crowdOf(cells), [cells])
  const names = free.value
  const shown = useMemo(() => ({ ...base, walkedKm, marks: names }), [base, walkedKm, names])
  const isCrowded = dots.length > 0
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
    // Once it is moved, the cells are only those in sight.
    if (map === null || (keep ? fits.current > 0 : map.isMoved)) return
    bounds.current =
      keep && base.route !== null ? base.route.bounds : extentOf(cells, way, latest.current ?? NO_DOTS)
    if (fits.current >= FITS && isInSight(bounds.current, map.camera, map.size)) return
    if (cells.length > 0) fits.current++
    map.refit()
  }, [camera, bounds, cells, way, base.route, keep])
  const showAll = () => {
    // Where all are now is read next.
    fits.current = 0
    camera.current?.follow()
  }
  const { tail, middle, front, palanquin } = words.value.now
  return (
    <section class={stale ? 'map old' : 'map'} aria-label={label}>
      <section ref={frame} class="map-frame" tabIndex={0} aria-label={words.value.now.mapHelp}>
        <World names={{ tail, middle, front, palanquin }}>
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

/** Gives the focus to a dot, so that the keyboard goes on where it was. */
const focusDot = (frame: HTMLElement | null, of: string): void =>
  [...(frame?.querySelectorAll<HTMLElement>('[data-id]') ?? [])]
    .find(({ dataset }) => dataset['id'] === of)
    ?.focus()

// How to move a map over which the page scrolls. It is shown to whoever tried it otherwise.

const SHOWN_MS = 1_600

const timers = new WeakMap<Element, Timer>()

type Timer = ReturnType<typeof setTimeout>

/** The keyboard has its own keys, which the map's name tells, so nothing is said to screen readers. */
const MapHint = () => (
  <p class="map-hint" aria-hidden="true">
    <span class="wheel">{words.value.now.wheelHint}</span>
    <span class="touch">{words.value.now.touchHint}</span>
  </p>
)

/** @param frame of the map, beside the hint */
function showHint(frame: HTMLElement | null, tried: 'wheel' | 'touch'): void {
  const hint = frame?.parentElement?.querySelector<HTMLElement>('.map-hint')
  if (hint === null || hint === undefined) return
  hint.dataset['tried'] = tried
  clearTimeout(timers.get(hint))
  timers.set(
    hint,
    setTimeout(() => delete hint.dataset['tried'], SHOWN_MS),
  )
}

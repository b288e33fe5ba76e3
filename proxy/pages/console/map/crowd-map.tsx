/** A map of cells, with marks and single pilgrims over it. */
import { useSignal } from '@preact/signals'
import type { MapCellEntry } from '#shared/client/index.ts'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { Button } from '../../design/button.tsx'
import { MarkSymbol } from '../../design/marks.tsx'
import { drawInColours } from '../../frame/theme.ts'
import type { OverNames } from '../../map/labels.ts'
import type { Places } from '../../map/marks-on-map.ts'
import { boundsOf, worldX, worldY } from '../../map/projection.ts'
import { crowdOf } from '../../map/shapes.ts'
import { consoleLanguage, words } from '../words.ts'
import { arrange, chooseAt, moveCard, showScale } from './overlay-layout.ts'
import { numbersOver } from './cell-numbers.ts'
import { boundsOfCells } from './cells.ts'
import { CrowdCamera, type Seen } from './crowd-camera.ts'
import { DotCard } from './dot-card.tsx'
import type { Placing } from '../../map/mark-names.ts'
import { type Pointing, usePointing, type Dot, OverMap, type Way } from './over-map.tsx'
import { ground, loadGround, mapSource, route } from './ground.ts'

const MARKS = ['tail', 'middle', 'front', 'palanquin'] as const

interface CrowdMapProps {
  readonly cells: readonly MapCellEntry[]
  readonly marks?: Places
  readonly walkedKm?: number | null
  readonly dots?: readonly Dot[]
  /** A way, drawn over the crowd. The map then shows it as a whole. */
  readonly way?: Way
  /** The chosen dot. */
  readonly chosen?: string | null
  readonly onDot?: (id: string) => void
  /** What the card of a dot says. Without it a dot has no card, and `onDot` is told that it is chosen. */
  readonly renderCard?: (dot: Dot) => ComponentChildren
  /** Cells show their numbers where they have room. */
  readonly numbered?: boolean
  readonly onSeen?: (seen: Seen) => void
  /** The map stays where it is when the cells change. */
  readonly keep?: boolean
  /** What is shown is old. */
  readonly stale?: boolean
  /** What the map shows, in words. */
  readonly label: string
}

/** Coarse cells come first; then the map is fitted to finer ones. Later it stays where the operator looks. */
const FITS = 3

const NOTHING: Way = []
const NO_DOTS: readonly Dot[] = []
const NO_MARKS: Places = {}
const NO_NAMES: readonly OverNames[] = []
const nothing = (): void => undefined

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
  const camera = useRef<CrowdCamera | null>(null)
  const place = useRef<Placing | null>(null)
  const free = useSignal(NO_NAMES)
  const latest = useRef(props)
  latest.current = props
  useEffect(() => {
    void loadGround()
    const made = new CrowdCamera(frame.current!, {
      scene: { ground: ground.peek(), crowd: null },
      onSeen: (seen) => {
        if (frame.current !== null) showScale(frame.current, seen)
        latest.current.onSeen?.(seen)
      },
      onNamed: (names) => (free.value = names),
      onPainted: (found) => {
        place.current = found
        // A painting may end after the view was left.
        if (frame.current !== null) arrange(frame.current, found, latest.current)
      },
      onMoved: (found) => {
        if (frame.current !== null) moveCard(frame.current, found, latest.current.dots ?? NO_DOTS)
      },
      onTap: (found, at) => chooseAt(latest.current, pointing, found, at),
      onShared: (tried) => showHint(frame.current, tried),
    })
    camera.current = made
    const stopColouring = drawInColours(() => made.recolour())
    return () => {
      stopColouring()
      made.stop()
    }
  }, [free, pointing])
  const { dots, way, marks = NO_MARKS } = props
  useEffect(() => camera.current?.marks(marks), [marks])
  const spoken = consoleLanguage.value
  useEffect(() => {
    if (place.current !== null && frame.current !== null)
      arrange(frame.current, place.current, latest.current)
  }, [dots, way, marks, spoken])
  useShown(props, frame, camera, place)
  return { frame, camera, free, place }
}

/** Moves the map when the chosen dot is out of sight. */
function useShown(
  { dots = NO_DOTS, chosen = null }: CrowdMapProps,
  frame: { readonly current: HTMLElement | null },
  camera: { readonly current: CrowdCamera | null },
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
  const { frame, camera, free, place } = useCamera(props, pointing)
  const base = ground.value
  const crowd = useMemo(() => crowdOf(cells), [cells])
  const names = free.value
  const shown = useMemo(() => ({ ...base, walkedKm, marks: names }), [base, walkedKm, names])
  const isCrowded = dots.length > 0
  const over = useMemo(
    () => (numbered ? numbersOver(cells, names, isCrowded) : nothing),
    [cells, numbered, names, isCrowded],
  )
  useEffect(() => camera.current?.update({ ground: shown, crowd, over }), [camera, shown, crowd, over])
  const fits = useRef(0)
  const latest = useRef(props.dots)
  latest.current = props.dots
  useEffect(() => {
    if (fits.current >= (keep ? 1 : FITS)) return
    if (cells.length > 0) fits.current++
    camera.current?.show(
      keep && base.route !== null ? base.route.bounds : extentOf(cells, way, latest.current ?? NO_DOTS),
    )
  }, [camera, cells, way, base.route, keep])
  return (
    <section class={stale ? 'map old' : 'map'} aria-label={label}>
      <section ref={frame} class="map-frame" tabIndex={0} aria-label={words.value.now.mapHelp}>
        <World {...props} pointing={renderCard === undefined ? undefined : pointing} />
      </section>
      <Controls camera={() => camera.current} />
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

interface WorldProps extends Pick<CrowdMapProps, 'dots' | 'way' | 'chosen' | 'onDot'> {
  readonly pointing: Pointing | undefined
}

const World = ({ dots = NO_DOTS, way = NOTHING, chosen = null, onDot, pointing }: WorldProps) => (
  <div class="world">
    <canvas class="ground" aria-hidden="true" />
    <canvas class="crowd" aria-hidden="true" />
    <canvas class="names" aria-hidden="true" />
    {MARKS.map((mark) => (
      <div key={mark} class={`marker marker-${mark}`} data-mark={mark} hidden>
        <MarkSymbol mark={mark} />
        <span>{words.value.now[mark]}</span>
      </div>
    ))}
    <OverMap dots={dots} way={way} chosen={chosen} onDot={onDot} pointing={pointing} />
  </div>
)

const Controls = ({ camera }: { readonly camera: () => CrowdCamera | null }) => (
  <div class="map-controls" data-over-map>
    <Button icon label="+" onClick={() => camera()?.zoom(1)}>
      +
    </Button>
    <Button icon label="−" onClick={() => camera()?.zoom(-1)}>
      −
    </Button>
    <Button icon label={words.value.now.showAll} onClick={() => camera()?.follow()}>
      <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
        <path d="M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5" />
      </svg>
    </Button>
  </div>
)

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

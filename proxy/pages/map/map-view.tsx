/** The map itself: canvases and marks in one movable element, connected to the state of the page. */
import { words } from './words.ts'
import { useCallback, useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { Button } from '../design/button.tsx'
import { Symbol } from '../design/symbol.tsx'
import { drawInColours } from '../frame/theme.ts'
import { detailed, DetailedMap, hasDetailedMap, tilesSource } from './detailed-map.ts'
import { Controls, World } from './map-parts.tsx'
import {
  chooseStation,
  followed,
  freshness,
  isFindingMe,
  isRelay,
  isScreen,
  leaderName,
  me,
  news,
  route,
  silentSince,
} from './state.ts'
import {
  counties,
  crowd,
  ground,
  isAlive,
  landBounds,
  marks,
  over,
  processionBounds,
  routeBounds,
  shown,
} from './scene.ts'
import { effect } from '@preact/signals'
import { showToast } from '../design/toast.tsx'
import { language, pageWords } from '../frame/language.ts'
import { MapFrame } from './map-frame.ts'
import { boxesOver } from './mark-names.ts'
import { type Camera, fitting, type Insets, scaleOf, type Size, worldX, worldY } from './projection.ts'
import { clock, stationName } from './format.ts'

const PROCESSION_ZOOM = 12.5
const ROUTE_ZOOM = 13
const ME_ZOOM = 14
const FIND_MS = 15_000
/** An element that covers at least this share of the map's width counts as its edge. */
const EDGE_SHARE = 0.5
const COVERED_SHARE = 0.45
/** A tap selects a station within this many pixels. */
const TAP_PX = 22
/** Minimum zoom at which stations are far enough apart to tap. */
const TAP_ZOOM = 9.5

/** Shows the procession until the reader moves the map. */
class MapCamera extends MapFrame {
  readonly #unwatch: (() => void)[]
  readonly #detailed: DetailedMap | null

  constructor(frame: HTMLElement) {
    super(frame, {
      scene: { ground: ground.peek(), crowd: crowd.peek() },
      still: isScreen,
      home: (size) => this.#home(size),
      onTap: (x, y) => chooseNear(this.camera, x, y),
      onMoved: (camera) => this.#detailed?.look(camera),
      onNamed: (free) => (marks.value = free),
    })
    this.#detailed = hasDetailedMap
      ? new DetailedMap(
          frame.querySelector<HTMLElement>('.tiles')!,
          () => this.camera,
          () => (route.peek()?.stations ?? []).map((station) => ({ ...station, name: stationName(station) })),
        )
      : null
    this.#unwatch = [
      effect(() => {
        void language.value
        void route.value
        this.#detailed?.restyle()
      }),
      effect(() => this.update({ ground: ground.value, crowd: crowd.value, over: over.value })),
      effect(() => {
        const map = isAlive.value ? news.value : null
        const { palanquin = null, front = null, middle = null, tail = null } = map ?? {}
        this.marks({ palanquin, front, middle, tail, me: me.value })
      }),
      effect(() => {
        void counties.value
        void ground.value.route
        void news.value
        this.refit()
      }),
    ]
  }

  override stop(): void {
    for (const unwatch of this.#unwatch) unwatch()
    this.#detailed?.hide()
    super.stop()
  }

  override recolour(): void {
    super.recolour()
    this.#detailed?.restyle()
  }

  toggleDetailed(): void {
    void this.#detailed?.toggle()
  }

  show(what: 'procession' | 'route'): void {
    shown.value = what
    this.follow()
  }

  override look(camera: Camera, moving = false): void {
    shown.value = null
    super.look(camera, moving)
  }

  /** Requests the reader's position from the browser; it stays on the device. A second call removes the mark. */
  findMe(): void {
    if (me.value !== null) {
      me.value = null
      return
    }
    const failed = (sentence: string) => {
      isFindingMe.value = false
      showToast(sentence, { warning: true })
    }
    if (!('geolocation' in navigator)) return failed(words.value.meUnknown)
    isFindingMe.value = true
    // A permission prompt that is left open is never answered.
    setTimeout(() => (isFindingMe.value = false), FIND_MS + 5_000)
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => {
        isFindingMe.value = false
        me.value = { lat: coords.latitude, lng: coords.longitude }
        const zoom = Math.min(ME_ZOOM, Math.max(11, this.camera.zoom))
        this.look({ x: worldX(coords.longitude), y: worldY(coords.latitude), zoom })
      },
      ({ code, PERMISSION_DENIED }) =>
        failed(code === PERMISSION_DENIED ? words.value.meDenied : words.value.meUnknown),
      { enableHighAccuracy: true, timeout: FIND_MS, maximumAge: 30_000 },
    )
  }

  #home(size: Size): Camera {
    const procession = shown.peek() !== 'route' ? processionBounds() : null
    const bounds = procession ?? routeBounds() ?? processionBounds() ?? landBounds()
    return fitting(bounds, size, this.#insets(size), procession === null ? ROUTE_ZOOM : PROCESSION_ZOOM)
  }

  /** Space for the marks' flags and names, and for elements over the edges of the map. */
  #insets({ width, height }: Size): Insets {
    let [above, below] = [0, 0]
    for (const [left, top, right, bottom] of boxesOver(this.frame)) {
      const across = Math.min(right, width) - Math.max(left, 0)
      if (across < width * EDGE_SHARE || bottom < 0 || top > height) continue
      if (top + bottom < height) above = Math.max(above, bottom)
      else below = Math.max(below, height - top)
    }
    // Limits how much of the map an open panel counts as covering.
    const covered = Math.min(below, height * COVERED_SHARE)
    return { top: 56 + above, right: 64, bottom: 40 + covered, left: 48 }
  }
}

function chooseNear(camera: Camera, fromX: number, fromY: number): void {
  if (camera.zoom < TAP_ZOOM) return
  const scale = scaleOf(camera.zoom)
  const off = ground
    .peek()
    .stations.map(({ x, y }) => Math.hypot((x - camera.x) * scale - fromX, (y - camera.y) * scale - fromY))
  const nearest = off.indexOf(Math.min(...off))
  if (nearest >= 0 && off[nearest]! <= TAP_PX) chooseStation(nearest)
}

export function MapView() {
  const frame = useRef<HTMLDivElement>(null)
  const camera = useRef<MapCamera | null>(null)
  const repaint = useCallback(() => camera.current?.recolour(), [])
  useEffect(() => {
    const made = new MapCamera(frame.current!)
    camera.current = made
    const stopColouring = drawInColours(() => made.recolour())
    return () => {
      stopColouring()
      made.stop()
    }
  }, [])
  const { part, me: own } = words.value
  const silent = silentSince.value
  const palanquin =
    silent === null ? leaderName.value : `${leaderName.value} · ${words.value.lastSeen(clock(silent))}`
  return (
    <section
      class="map"
      aria-label={words.value.map(followed.value)}
      data-freshness={freshness.value}
      data-palanquin={silent === null ? undefined : 'silent'}
    >
      <div
        ref={frame}
        class="map-frame"
        role="application"
        tabIndex={0}
        aria-label={words.value.map(followed.value)}
        aria-describedby="map-keys"
      >
        {hasDetailedMap ? <div class="tiles" aria-hidden="true" /> : null}
        <World names={{ ...part, palanquin, me: own }} isRelay={isRelay.value} />
      </div>
      <p id="map-keys" class="visually-hidden">
        {pageWords.value.mapKeys}
      </p>
      {isScreen ? null : <Buttons camera={() => camera.current} />}
      <Source onShown={repaint} />
    </section>
  )
}

/** Attribution of the ground data. */
function Source({ onShown }: { readonly onShown: () => void }) {
  const tiles = detailed.value === 'on'
  const source = tiles ? tilesSource.value : counties.value === null ? '' : pageWords.value.mapSource
  // Names leave its place free. Before the next paint, so that nothing is drawn twice.
  useLayoutEffect(() => {
    if (source !== '') onShown()
  }, [onShown, source])
  return source === '' ? null : (
    <small class="map-source" data-over-map>
      {source}
    </small>
  )
}

interface ButtonsProps {
  readonly camera: () => MapCamera | null
}

const Buttons = ({ camera }: ButtonsProps) => {
  const offersRoute = shown.value === 'procession' || !isAlive.value || news.value?.on_map === 0
  return (
    <Controls camera={camera}>
      {hasDetailedMap ? (
        <Button
          icon
          label={words.value.detailed}
          aria-pressed={detailed.value !== 'off'}
          busy={detailed.value === 'loading'}
          onClick={() => camera()?.toggleDetailed()}
        >
          <Symbol of="detailed" />
        </Button>
      ) : null}
      <Button
        icon
        label={offersRoute ? words.value.showRoute : words.value.showProcession(followed.value)}
        onClick={() => camera()?.show(offersRoute ? 'route' : 'procession')}
      >
        <Symbol of={offersRoute ? 'route' : 'procession'} />
      </Button>
      <Button
        icon
        label={words.value.whereAmI}
        aria-pressed={me.value !== null}
        busy={isFindingMe.value}
        onClick={() => camera()?.findMe()}
      >
        <Symbol of="position" />
      </Button>
    </Controls>
  )
}

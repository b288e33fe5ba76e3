/** The map of the own way. It is a separate script, which the first view does not need. */
import { computed, effect, signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { drawInColours } from '../../frame/theme.ts'
import { drawPlaces, type PlaceOnMap } from '../../map/draw-places.ts'
import { drawWay } from '../../map/draw-way.ts'
import { MapFrame } from '../../map/map-frame.ts'
import { World } from '../../map/map-parts.tsx'
import type { Scene } from '../../map/painter.ts'
import { type Bounds, fitting, type Insets, worldX, worldY } from '../../map/projection.ts'
import { otherDays, route, shownDay } from '../way/own-way.ts'
import { type DrawnWay, wayShapes } from '../way/way-shapes.ts'
import { language } from '../../frame/language.ts'
import { pageData } from '../../frame/page-data.ts'
import type { Ground } from '../../map/draw-ground.ts'
import { LAND, loadAtlas, placedStations } from '../../map/ground.ts'
import { type AtlasShapes, routeShapes } from '../../map/shapes.ts'

export { Controls } from '../../map/map-parts.tsx'

const counties = signal<AtlasShapes | null>(null)
const towns = signal<AtlasShapes | null>(null)

/** Loads coasts and borders once. The service worker caches the files. */
function loadGround(): void {
  const { files } = pageData()
  if (counties.value === null) void loadAtlas(files['counties'], (shapes) => (counties.value = shapes))
  if (towns.value === null) void loadAtlas(files['towns'], (shapes) => (towns.value = shapes))
}

/** Whether the map shows data whose source must be named. */
export const hasAtlas = computed(() => counties.value !== null)

const drawn = computed(() => (route.value === null ? null : routeShapes(route.value)))

const places = computed((): readonly PlaceOnMap[] =>
  (route.value?.places ?? []).map(({ kind, lat, lng }) => ({ kind, x: worldX(lng), y: worldY(lat) })),
)

const ground = computed<Ground>(() => ({
  counties: counties.value,
  towns: towns.value,
  route: drawn.value,
  stations: placedStations(route.value, language.value),
  mine: null,
  walkedKm: null,
  language: language.value,
}))

/** Area shown for a day without a position. */
const wholeRoute = (): Bounds => drawn.value?.bounds ?? LAND

interface WayMapProps {
  /** Way to draw in place of the selected day; the same object at each render. */
  readonly drawn?: DrawnWay
  /** A static picture that is described elsewhere. */
  readonly still?: boolean
  /** Description and keyboard help, for screen readers. */
  readonly label?: string
  readonly keys?: string
  /** Receives the camera while there is one; the same function at each render. */
  readonly onCamera?: (camera: MapFrame | null) => void
}

/** Keeps a short way recognisable instead of a blot. */
const CLOSEST = 15.5
/** Room for overlays on the picture, and on the large map below its header, in rem of 16 px. */
const PICTURE = { top: 4, right: 2, bottom: 5, left: 2 }
const LARGE = { top: 1.5, right: 4, bottom: 3.5, left: 2.5 }

/** Room at the edges in CSS pixels, for the current letter size and the overlays now shown. */
function insetsOf(frame: HTMLElement, still: boolean): Insets {
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
  const { top, right, bottom, left } = still ? PICTURE : LARGE
  const header = still
    ? 0
    : (frame.parentElement?.querySelector('header')?.getBoundingClientRect().bottom ?? 0)
  return { top: header + top * rem, right: right * rem, bottom: bottom * rem, left: left * rem }
}

function sceneOf(drawn: DrawnWay | undefined): Scene {
  const day = drawn ?? shownDay.value?.way ?? null
  const others = drawn === undefined ? otherDays.value : []
  const along = places.value
  const way = { day: day === null ? null : wayShapes(day), others: others.map(wayShapes) }
  return {
    ground: ground.value,
    crowd: null,
    over: (context, view, colour) => {
      drawPlaces(context, view, along, colour)
      drawWay(context, view, way, colour)
    },
  }
}

export function WayMap({ drawn: given, still = false, label, keys, onCamera }: WayMapProps) {
  const frame = useRef<HTMLDivElement>(null)
  useEffect(() => {
    loadGround()
    const element = frame.current!
    let bounds: Bounds = wholeRoute()
    const camera = new MapFrame(element, {
      scene: sceneOf(given),
      still,
      home: (size) => fitting(bounds, size, insetsOf(element, still), CLOSEST),
    })
    onCamera?.(camera)
    let seen: string | undefined
    const stopDrawing = effect(() => {
      camera.update(sceneOf(given))
      const day = shownDay.value
      const way = given ?? day?.way
      bounds = (way ? wayShapes(way).bounds : null) ?? wholeRoute()
      // The same day has grown: show all of it, unless the pilgrim has moved the map.
      if (day?.day === seen) camera.refit()
      else camera.follow()
      seen = day?.day
    })
    const stopColouring = drawInColours(() => camera.recolour())
    return () => {
      stopDrawing()
      stopColouring()
      camera.stop()
      onCamera?.(null)
    }
  }, [given, still, onCamera])
  return still ? (
    <div ref={frame} class="map-frame" aria-hidden="true">
      <World />
    </div>
  ) : (
    <div
      ref={frame}
      class="map-frame"
      role="application"
      tabIndex={0}
      aria-label={label}
      aria-describedby="map-keys"
    >
      <World />
      <p id="map-keys" class="visually-hidden">
        {keys}
      </p>
    </div>
  )
}

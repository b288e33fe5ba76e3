/** The map of the own way. It is a script of its own, which the first view does not need. */
import { effect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { drawInColours } from '../../frame/theme.ts'
import type { Scene } from '../../map/painter.ts'
import type { Insets } from '../../map/projection.ts'
import { drawWay } from '../way/draw-way.ts'
import { otherDays, shownDay } from '../way/own-way.ts'
import { WayCamera } from '../way/way-camera.ts'
import { ground, loadGround, wholeRoute } from '../way/way-ground.ts'
import { wayShapes } from '../way/way-shapes.ts'

export { hasAtlas } from '../way/way-ground.ts'

interface WayMapProps {
  /** A picture that nobody moves, and that is described elsewhere. */
  readonly still?: boolean
  /** What it shows, and how it is moved by keys, for screen readers. */
  readonly label?: string
  readonly keys?: string
  /** Gets the camera while there is one; the same function at each drawing. */
  readonly onCamera?: (camera: WayCamera | null) => void
}

/** Room for what lies over the picture, and over the large map below its header, in rem of 16 px. */
const PICTURE = { top: 4, right: 2, bottom: 5, left: 2 }
const LARGE = { top: 1.5, right: 5.25, bottom: 3.5, left: 2.5 }

/** In CSS pixels, with letters of this size and what stands over the map now. */
function insetsOf(frame: HTMLElement, still: boolean): Insets {
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
  const { top, right, bottom, left } = still ? PICTURE : LARGE
  const header = still
    ? 0
    : (frame.parentElement?.querySelector('header')?.getBoundingClientRect().bottom ?? 0)
  return { top: header + top * rem, right: right * rem, bottom: bottom * rem, left: left * rem }
}

function sceneOf(): Scene {
  const day = shownDay.value?.way ?? null
  const way = { day: day === null ? null : wayShapes(day), others: otherDays.value.map(wayShapes) }
  return {
    ground: ground.value,
    crowd: null,
    over: (context, view, colour) => drawWay(context, view, way, colour),
  }
}

/** Draws again when the day, the ground or the theme has changed. @returns what ends it */
function follow(camera: WayCamera): () => void {
  let seen: string | undefined
  const stopDrawing = effect(() => {
    camera.update(sceneOf())
    const day = shownDay.value
    const bounds = (day?.way ? wayShapes(day.way).bounds : null) ?? wholeRoute()
    if (day?.day === seen) camera.grow(bounds)
    else camera.show(bounds)
    seen = day?.day
  })
  const stopColouring = drawInColours(() => camera.recolour())
  return () => {
    stopDrawing()
    stopColouring()
  }
}

export function WayMap({ still = false, label, keys, onCamera }: WayMapProps) {
  const frame = useRef<HTMLDivElement>(null)
  useEffect(() => {
    void loadGround()
    const insets = () => insetsOf(frame.current!, still)
    const camera = new WayCamera(frame.current!, sceneOf(), still, insets)
    onCamera?.(camera)
    const stop = follow(camera)
    return () => {
      stop()
      camera.stop()
      onCamera?.(null)
    }
  }, [still, onCamera])
  const world = (
    <div class="world">
      <canvas class="ground" aria-hidden="true" />
      <canvas class="crowd" aria-hidden="true" />
      <canvas class="names" aria-hidden="true" />
    </div>
  )
  return still ? (
    <div ref={frame} class="map-frame" aria-hidden="true">
      {world}
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
      {world}
      <p id="map-keys" class="visually-hidden">
        {keys}
      </p>
    </div>
  )
}

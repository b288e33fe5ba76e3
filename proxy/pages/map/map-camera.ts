/** Connects what the page knows with the map: paints it, moves it, and shows the procession until the reader moves it. */
import { effect } from '@preact/signals'
import type { Mark } from '../design/marks.tsx'
import { showToast } from '../design/toast.tsx'
import { listenToGestures } from './gestures.ts'
import { MovingMarks } from './marks-on-map.ts'
import { Painter } from './painter.ts'
import {
  type Bounds,
  type Camera,
  fitting,
  type Insets,
  scaleOf,
  type Size,
  worldX,
  worldY,
  zoomed,
} from './projection.ts'
import { counties, crowd, ground, isAlive, landBounds, processionBounds, routeBounds } from './scene.ts'
import { chooseStation, isScreen, me, news } from './state.ts'

const PROCESSION_ZOOM = 12.5
const ROUTE_ZOOM = 13
const ME_ZOOM = 14
/** A tap chooses a station within this many pixels. */
const TAP_PX = 22
/** From this zoom on, stations are far enough from each other to tap one. */
const TAP_ZOOM = 9.5

export class MapCamera {
  readonly #painter: Painter
  readonly #marks: MovingMarks
  readonly #stopping = new AbortController()
  readonly #unwatch: (() => void)[] = []
  #camera: Camera
  #size: Size = { width: 0, height: 0 }
  /** What the map shows by itself; null once the reader has moved it. */
  #follows: 'procession' | 'route' | null = 'procession'

  constructor(private readonly frame: HTMLElement) {
    const world = frame.querySelector<HTMLElement>('.world')!
    const canvas = (name: string) => world.querySelector<HTMLCanvasElement>(`canvas.${name}`)!
    const elements = [...world.querySelectorAll<HTMLElement>('[data-mark]')]
    this.#marks = new MovingMarks(new Map(elements.map((one) => [one.dataset.mark as Mark, one])))
    this.#camera = { x: 0.5, y: 0.5, zoom: 4 }
    this.#painter = new Painter(
      { ground: canvas('ground'), crowd: canvas('crowd'), names: canvas('names'), world },
      this.#camera,
      { ground: ground.peek(), crowd: crowd.peek() },
      (painted, size) => this.#marks.painted(painted, size),
    )
    this.#watch()
  }

  stop(): void {
    this.#stopping.abort()
    for (const unwatch of this.#unwatch) unwatch()
    this.#painter.stop()
    this.#marks.stop()
  }

  recolour(): void {
    this.#painter.recolour()
  }

  zoom(by: number): void {
    this.#moved(zoomed(this.#camera, by), false)
  }

  showProcession(): void {
    this.#follows = 'procession'
    this.#fit()
  }

  showRoute(): void {
    this.#follows = 'route'
    this.#fit()
  }

  /** Asks the browser for the reader's position; it stays on the device. A second call removes the mark. */
  findMe(unknown: string): void {
    if (me.value !== null) {
      me.value = null
      return
    }
    const failed = () => showToast(unknown, { warning: true })
    if (!('geolocation' in navigator)) return failed()
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => {
        me.value = { lat: coords.latitude, lng: coords.longitude }
        const camera = { x: worldX(coords.longitude), y: worldY(coords.latitude) }
        this.#moved({ ...camera, zoom: Math.min(ME_ZOOM, Math.max(11, this.#camera.zoom)) }, false)
      },
      failed,
      { enableHighAccuracy: true, timeout: 15_000, maximumAge: 30_000 },
    )
  }

  #watch(): void {
    const resized = new ResizeObserver(() => {
      this.#size = { width: this.frame.clientWidth, height: this.frame.clientHeight }
      this.#painter.resize(this.#size)
      this.#fit()
    })
    resized.observe(this.frame)
    if (!isScreen)
      listenToGestures(
        this.frame,
        {
          camera: () => this.#camera,
          move: (camera, moving) => this.#moved(camera, moving),
          tap: (x, y) => this.#tapped(x, y),
        },
        this.#stopping.signal,
      )
    this.#unwatch.push(
      () => resized.disconnect(),
      effect(() => this.#painter.update({ ground: ground.value, crowd: crowd.value })),
      effect(() => {
        const map = isAlive.value ? news.value : null
        this.#marks.move({
          front: map?.front ?? null,
          middle: map?.middle ?? null,
          tail: map?.tail ?? null,
          me: me.value,
        })
      }),
      effect(() => {
        void counties.value
        void ground.value.route
        void news.value
        this.#fit()
      }),
    )
  }

  /** The reader moves the map. */
  #moved(camera: Camera, moving: boolean): void {
    if (camera.x !== this.#camera.x || camera.y !== this.#camera.y || camera.zoom !== this.#camera.zoom)
      this.#follows = null
    this.#camera = camera
    this.#painter.move(camera, moving)
  }

  #fit(): void {
    if (this.#follows === null || this.#size.width === 0) return
    const procession = this.#follows === 'procession' ? processionBounds() : null
    const bounds: Bounds = procession ?? routeBounds() ?? processionBounds() ?? landBounds()
    this.#camera = fitting(
      bounds,
      this.#size,
      this.#insets(),
      procession === null ? ROUTE_ZOOM : PROCESSION_ZOOM,
    )
    this.#painter.move(this.#camera, false)
  }

  /** Room for the marks' flags, and for what lies over the map; a token of the page's style says how much. */
  #insets(): Insets {
    const style = getComputedStyle(this.frame)
    const covered = Number.parseFloat(style.getPropertyValue('--covered')) || 0
    const right = (Number.parseFloat(style.getPropertyValue('--covered-right')) || 0) * this.#size.width
    return { top: 56, right: 64 + right, bottom: 40 + covered, left: 48 }
  }

  #tapped(fromX: number, fromY: number): void {
    if (this.#camera.zoom < TAP_ZOOM) return
    const scale = scaleOf(this.#camera.zoom)
    const off = ground
      .peek()
      .stations.map(({ x, y }) =>
        Math.hypot((x - this.#camera.x) * scale - fromX, (y - this.#camera.y) * scale - fromY),
      )
    const nearest = off.indexOf(Math.min(...off))
    if (nearest >= 0 && off[nearest]! <= TAP_PX) chooseStation(nearest)
  }
}

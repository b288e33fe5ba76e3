/** A map of cells for operators: it paints, moves, and tells what it shows. The public map's modules do the drawing. */
import type { Mark } from '../../design/marks.tsx'
import { listenToGestures } from '../../map/gestures.ts'
import { MovingMarks, type Places } from '../../map/marks-on-map.ts'
import { Painter, type Scene } from '../../map/painter.ts'
import {
  type Bounds,
  type Camera,
  fitting,
  scaleOf,
  type Size,
  worldX,
  worldY,
  zoomed,
} from '../../map/projection.ts'

const FIT_ZOOM = 14
const INSETS = { top: 40, right: 40, bottom: 40, left: 40 }
/** What is shown before anything is known: Taiwan. */
const LAND: Bounds = { west: 0.833, north: 0.424, east: 0.8395, south: 0.438 }

/** What the map shows. */
export interface Seen {
  readonly zoom: number
  /** West, south, east, north in degrees. */
  readonly bbox: readonly [number, number, number, number]
}

export interface CrowdCameraOptions {
  readonly scene: Scene
  /** The map shows another part of the world, and rests. */
  readonly onSeen: (seen: Seen) => void
  /** The pictures were painted: what stands over them is placed anew. */
  readonly onPainted: (place: (lng: number, lat: number) => { x: number; y: number }) => void
}

const degreesX = (x: number): number => x * 360 - 180
const degreesY = (y: number): number => (Math.atan(Math.exp((0.5 - y) * 2 * Math.PI)) * 360) / Math.PI - 90

export class CrowdCamera {
  readonly #painter: Painter
  readonly #marks: MovingMarks
  readonly #stopping = new AbortController()
  readonly #observer: ResizeObserver
  #camera: Camera = { x: 0.836, y: 0.431, zoom: 7 }
  #size: Size = { width: 0, height: 0 }
  #bounds: Bounds | null = null
  /** Whether the operator has moved the map; until then it shows everything. */
  #moved = false

  constructor(
    private readonly frame: HTMLElement,
    private readonly options: CrowdCameraOptions,
  ) {
    const world = frame.querySelector<HTMLElement>('.world')!
    const canvas = (name: string) => world.querySelector<HTMLCanvasElement>(`canvas.${name}`)!
    const elements = [...world.querySelectorAll<HTMLElement>('[data-mark]')]
    this.#marks = new MovingMarks(new Map(elements.map((one) => [one.dataset.mark as Mark, one])))
    this.#painter = new Painter(
      { ground: canvas('ground'), crowd: canvas('crowd'), names: canvas('names'), world },
      this.#camera,
      options.scene,
      (painted, size) => this.#painted(painted, size),
    )
    this.#observer = new ResizeObserver(() => this.#resized())
    this.#observer.observe(frame)
    listenToGestures(
      frame,
      {
        camera: () => this.#camera,
        move: (camera, moving) => this.#move(camera, moving),
        tap: () => undefined,
      },
      this.#stopping.signal,
    )
  }

  stop(): void {
    this.#stopping.abort()
    this.#observer.disconnect()
    this.#painter.stop()
    this.#marks.stop()
  }

  update(scene: Scene): void {
    this.#painter.update(scene)
  }

  recolour(): void {
    this.#painter.recolour()
  }

  marks(places: Places): void {
    this.#marks.move(places)
  }

  zoom(by: number): void {
    this.#move(zoomed(this.#camera, by), false)
  }

  /** Everything that is to be seen; shown at once unless the operator has moved the map. */
  fit(bounds: Bounds | null): void {
    this.#bounds = bounds
    if (!this.#moved) this.showAll()
  }

  showAll(): void {
    this.#moved = false
    if (this.#size.width === 0) return
    this.#camera = fitting(this.#bounds ?? LAND, this.#size, INSETS, FIT_ZOOM)
    this.#painter.move(this.#camera, false)
  }

  #resized(): void {
    this.#size = { width: this.frame.clientWidth, height: this.frame.clientHeight }
    this.#painter.resize(this.#size)
    if (this.#moved) this.#painter.move(this.#camera, false)
    else this.showAll()
  }

  #move(camera: Camera, moving: boolean): void {
    this.#moved ||=
      camera.x !== this.#camera.x || camera.y !== this.#camera.y || camera.zoom !== this.#camera.zoom
    this.#camera = camera
    this.#painter.move(camera, moving)
  }

  #painted(painted: Camera, size: Size): void {
    this.#marks.painted(painted, size)
    const scale = scaleOf(painted.zoom)
    this.options.onPainted((lng, lat) => ({
      x: size.width / 2 + (worldX(lng) - painted.x) * scale,
      y: size.height / 2 + (worldY(lat) - painted.y) * scale,
    }))
    const [half, high] = [size.width / 2 / scale, size.height / 2 / scale]
    this.options.onSeen({
      zoom: painted.zoom,
      bbox: [
        degreesX(painted.x - half),
        degreesY(painted.y + high),
        degreesX(painted.x + half),
        degreesY(painted.y - high),
      ],
    })
  }
}

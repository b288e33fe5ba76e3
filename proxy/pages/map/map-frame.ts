/** A map in an element of a page: it paints, moves, and shows the page's default view until the reader moves it. */
import type { Mark } from '../design/marks.tsx'
import { listenToGestures } from './gestures.ts'
import type { OverNames } from './labels.ts'
import { nameMarks, type Placing } from './mark-names.ts'
import { MovingMarks, type Places } from './marks-on-map.ts'
import { Painter, type Scene } from './painter.ts'
import { type Camera, scaleOf, type Size, worldX, worldY, zoomed } from './projection.ts'

interface MapFrameOptions {
  readonly scene: Scene
  /** The default view. */
  readonly home: (size: Size) => Camera
  /** A wall display, which is not moved by readers. */
  readonly still?: boolean
  /** The page scrolls over the map; called when a reader tries to move the map with a gesture that scrolls. */
  readonly onShared?: (tried: 'wheel' | 'touch') => void
  /** A tap without movement, in CSS pixels from the centre. */
  readonly onTap?: (x: number, y: number) => void
  /** Every movement, before painting. */
  readonly onMoved?: (camera: Camera) => void
  /** The pictures were painted: elements over them must be placed again. */
  readonly onPainted?: (camera: Camera, size: Size) => void
  /** The marks have other places or names, so the names on the map leave other places free. */
  readonly onNamed?: (free: readonly OverNames[]) => void
}

/** Converts a place to CSS pixels of the frame. */
export const placing = (camera: Camera, { width, height }: Size): Placing => {
  const scale = scaleOf(camera.zoom)
  return (lng, lat) => ({
    x: width / 2 + (worldX(lng) - camera.x) * scale,
    y: height / 2 + (worldY(lat) - camera.y) * scale,
  })
}

export class MapFrame {
  readonly #painter: Painter
  readonly #marks: MovingMarks
  readonly #stopping = new AbortController()
  readonly #observer: ResizeObserver
  readonly #options: MapFrameOptions
  #camera: Camera = { x: 0.5, y: 0.5, zoom: 4 }
  #size: Size = { width: 0, height: 0 }
  #places: Places = {}
  /** The placing of the current pictures. */
  #placing: Placing | null = null
  /** The areas that names leave free, as text. */
  #free = '[]'
  #isMoved = false

  /**
   * @param frame contains an element `.world` with the canvases `ground`, `crowd` and `names`, and elements with
   *   `data-mark`
   */
  constructor(
    protected readonly frame: HTMLElement,
    options: MapFrameOptions,
  ) {
    this.#options = options
    const { scene, still = false, onShared, onTap, onPainted } = options
    const world = frame.querySelector<HTMLElement>('.world')!
    const canvas = (name: string) => world.querySelector<HTMLCanvasElement>(`canvas.${name}`)!
    const elements = [...world.querySelectorAll<HTMLElement>('[data-mark]')]
    this.#marks = new MovingMarks(
      new Map(elements.map((element) => [element.dataset['mark'] as Mark, element])),
    )
    this.#painter = new Painter(
      { ground: canvas('ground'), crowd: canvas('crowd'), names: canvas('names'), world },
      this.#camera,
      scene,
      (painted, size) => {
        this.#marks.painted(painted, size)
        this.#placing = placing(painted, size)
        this.#nameMarks()
        onPainted?.(painted, size)
      },
    )
    this.#observer = new ResizeObserver(() => {
      this.#size = { width: frame.clientWidth, height: frame.clientHeight }
      this.#painter.resize(this.#size)
      this.refit()
    })
    this.#observer.observe(frame)
    if (!still)
      listenToGestures(
        frame,
        {
          camera: () => this.#camera,
          move: (camera, moving) => this.look(camera, moving),
          tap: (x, y) => onTap?.(x, y),
          ...(onShared === undefined ? {} : { shared: onShared }),
        },
        this.#stopping.signal,
      )
  }

  get camera(): Camera {
    return this.#camera
  }

  get size(): Size {
    return this.#size
  }

  /** The reader has moved the map, so it no longer follows. */
  get isMoved(): boolean {
    return this.#isMoved
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
    this.#places = places
    this.#marks.move(places)
    this.#nameMarks()
  }

  #nameMarks(): void {
    if (this.#placing === null) return
    const free = nameMarks(this.frame, this.#placing, this.#places)
    const text = JSON.stringify(free)
    // Unchanged marks need no repaint.
    if (text === this.#free) return
    this.#free = text
    this.#options.onNamed?.(free)
  }

  zoom(by: number): void {
    this.look(zoomed(this.#camera, by))
  }

  /** The reader moves the map, which stops following. @param moving more movement follows */
  look(camera: Camera, moving = false): void {
    const { x, y, zoom } = this.#camera
    this.#isMoved ||= camera.x !== x || camera.y !== y || camera.zoom !== zoom
    this.#move(camera, moving)
  }

  /** The map follows again. */
  follow(): void {
    this.#isMoved = false
    this.refit()
  }

  /** Call it when the default view may have changed. */
  refit(): void {
    if (this.#isMoved || this.#size.width === 0) return
    this.#move(this.#options.home(this.#size), false)
  }

  #move(camera: Camera, moving: boolean): void {
    this.#camera = camera
    this.#painter.move(camera, moving)
    this.#options.onMoved?.(camera)
  }
}

/** A map in an element of a page: it paints, moves, and shows what its page wants until the reader moves it. */
import type { Mark } from '../design/marks.tsx'
import { listenToGestures } from './gestures.ts'
import type { OverNames } from './labels.ts'
import { nameMarks, type Placing } from './mark-names.ts'
import { MovingMarks, type Places } from './marks-on-map.ts'
import { Painter, type Scene } from './painter.ts'
import { type Camera, scaleOf, type Size, worldX, worldY, zoomed } from './projection.ts'

interface MapFrameOptions {
  readonly scene: Scene
  /** Where the map looks by itself. */
  readonly home: (size: Size) => Camera
  /** A display on a wall has nobody who moves the map. */
  readonly still?: boolean
  /** The page scrolls over the map; called when somebody tried to move the map as if it did not. */
  readonly onShared?: (tried: 'wheel' | 'touch') => void
  /** A tap that moved nothing, in CSS pixels from the centre. */
  readonly onTap?: (x: number, y: number) => void
  /** Every movement, before anything is painted. */
  readonly onMoved?: (camera: Camera) => void
  /** The pictures were painted: what stands over them is placed anew. */
  readonly onPainted?: (camera: Camera, size: Size) => void
  /** The marks have other places or names: what the names on the map leave free. */
  readonly onNamed?: (free: readonly OverNames[]) => void
}

/** Where a camera shows a place, in CSS pixels of the frame. */
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
  /** Where the pictures of now show a place. */
  #placing: Placing | null = null
  /** What the names on the map leave free, as text. */
  #free = '[]'
  #isMoved = false

  /**
   * @param frame holds an element `.world` with the canvases `ground`, `crowd` and `names`, and elements with
   * `data-mark`
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
    this.#marks = new MovingMarks(new Map(elements.map((one) => [one.dataset['mark'] as Mark, one])))
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

  /** The reader has moved the map, so it does not move by itself. */
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
    // The same ones draw nothing again.
    if (text === this.#free) return
    this.#free = text
    this.#options.onNamed?.(free)
  }

  zoom(by: number): void {
    this.look(zoomed(this.#camera, by))
  }

  /** The reader looks somewhere; the map does not move by itself any more. @param moving more movement follows */
  look(camera: Camera, moving = false): void {
    const { x, y, zoom } = this.#camera
    this.#isMoved ||= camera.x !== x || camera.y !== y || camera.zoom !== zoom
    this.#move(camera, moving)
  }

  /** The map moves by itself again. */
  follow(): void {
    this.#isMoved = false
    this.refit()
  }

  /** What the map shows by itself may be somewhere else. */
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

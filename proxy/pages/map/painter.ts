/**
 * Paints the map on three canvases: the ground, the crowd, and names over it. All are larger than the screen. While the
 * map moves, the finished pictures move with it; they are redrawn when it rests, or when they no longer cover the
 * screen.
 */
import { drawCrowd } from './draw-crowd.ts'
import { drawGround, drawNames, type Ground } from './draw-ground.ts'
import type { Box } from './labels.ts'
import { boxesOver } from './mark-names.ts'
import { type Camera, scaleOf, type Size } from './projection.ts'
import type { Crowd } from './shapes.ts'
import { type Colour, MOST_DENSE, tokensOf, type View, viewOf } from './view.ts'

export interface Scene {
  readonly ground: Ground
  readonly crowd: Crowd | null
  /** Drawn by a page over the crowd or in its place, such as a pilgrim's walk. */
  readonly over?: ((context: CanvasRenderingContext2D, view: View, colour: Colour) => void) | undefined
}

/** Pixels that the pictures extend beyond each edge of the screen: a share of it, and a maximum. */
const MARGIN_SHARE = 0.3
const MARGIN_MOST_PX = 240
const REST_MS = 140
/** A picture stretched more than this is redrawn at once. */
const STRETCH = 1.6

export class Painter {
  #camera: Camera
  #painted: Camera
  #size: Size = { width: 0, height: 0 }
  #margin = 0
  #scene: Scene
  #stale = { ground: true, crowd: true }
  #frame = 0
  #rest: ReturnType<typeof setTimeout> | undefined

  /** @param world the element that contains the canvases and the marks; it moves with the map */
  constructor(
    private readonly parts: Readonly<Record<'ground' | 'crowd' | 'names', HTMLCanvasElement>> & {
      readonly world: HTMLElement
    },
    camera: Camera,
    scene: Scene,
    /** Called when marks must be placed again. */
    private readonly onPainted: (painted: Camera, size: Size) => void,
  ) {
    this.#camera = camera
    this.#painted = camera
    this.#scene = scene
  }

  resize(size: Size): void {
    this.#size = size
    this.#margin = Math.round(Math.min(MARGIN_MOST_PX, MARGIN_SHARE * Math.max(size.width, size.height)))
    this.#stale = { ground: true, crowd: true }
    this.#request()
  }

  /** Shows other data. Only changed parts are redrawn. */
  update(scene: Scene): void {
    const before = this.#scene
    this.#scene = scene
    if (scene.crowd !== before.crowd || scene.over !== before.over) this.#stale.crowd = true
    if (scene.ground !== before.ground) this.#stale.ground = true
    this.#request()
  }

  recolour(): void {
    this.#stale = { ground: true, crowd: true }
    this.#request()
  }

  /** @param moving more movement follows: the pictures are moved now, and drawn when it rests */
  move(camera: Camera, moving: boolean): void {
    this.#camera = camera
    clearTimeout(this.#rest)
    if (moving && this.#covers()) {
      this.#place()
      this.#rest = setTimeout(() => this.#redraw(), REST_MS)
    } else this.#redraw()
  }

  stop(): void {
    cancelAnimationFrame(this.#frame)
    clearTimeout(this.#rest)
  }

  #redraw(): void {
    this.#stale = { ground: true, crowd: true }
    this.#request()
  }

  /** Whether the moved and stretched pictures cover the screen. */
  #covers(): boolean {
    const stretch = 2 ** (this.#camera.zoom - this.#painted.zoom)
    if (stretch > STRETCH || stretch < 1 / STRETCH) return false
    const scale = scaleOf(this.#camera.zoom)
    const off = (share: number) => Math.abs(share * scale)
    const spare = (extent: number) => (extent / 2 + this.#margin) * stretch - extent / 2
    return (
      off(this.#camera.x - this.#painted.x) <= spare(this.#size.width) &&
      off(this.#camera.y - this.#painted.y) <= spare(this.#size.height)
    )
  }

  #place(): void {
    const { world } = this.parts
    const scale = scaleOf(this.#camera.zoom)
    const stretch = 2 ** (this.#camera.zoom - this.#painted.zoom)
    const x = (this.#painted.x - this.#camera.x) * scale
    const y = (this.#painted.y - this.#camera.y) * scale
    world.style.transform = `translate(${x}px, ${y}px) scale(${stretch})`
    world.style.setProperty('--unstretch', String(1 / stretch))
  }

  #request(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#paint())
  }

  #paint(): void {
    this.#frame = 0
    const { width, height } = this.#size
    if (width === 0 || height === 0) return
    const moved = this.#painted !== this.#camera
    this.#painted = this.#camera
    const density = Math.min(MOST_DENSE, devicePixelRatio || 1)
    const size = { width: width + 2 * this.#margin, height: height + 2 * this.#margin }
    const view = viewOf(this.#painted, size, density, typeSize(this.parts.world))

    const colour = tokensOf(this.parts.world)
    if (this.#stale.ground || moved) {
      drawGround(this.#prepare(this.parts.ground, view, size), view, this.#scene.ground, colour)
    }
    if (this.#stale.crowd || moved) {
      const context = this.#prepare(this.parts.crowd, view, size)
      if (this.#scene.crowd === null) context.clearRect(0, 0, view.width, view.height)
      else drawCrowd(context, view, this.#scene.crowd, colour)
      this.#scene.over?.(context, view, colour)
    }
    const covered = coveredOn(this.parts.world, this.#size, this.#margin, density)
    const { ground, crowd } = this.#scene
    drawNames(this.#prepare(this.parts.names, view, size), view, { ...ground, covered }, crowd, colour)
    this.#stale = { ground: false, crowd: false }
    this.#place()
    this.onPainted(this.#painted, this.#size)
  }

  #prepare(canvas: HTMLCanvasElement, view: Size, size: Size): CanvasRenderingContext2D {
    if (canvas.width !== view.width || canvas.height !== view.height) {
      canvas.width = view.width
      canvas.height = view.height
      canvas.style.width = `${size.width}px`
      canvas.style.height = `${size.height}px`
      canvas.style.left = canvas.style.top = `${-this.#margin}px`
    }
    return canvas.getContext('2d')!
  }
}

/** Areas covered by other elements, in pixels of the canvas, and its edges: names avoid both. */
function coveredOn(world: HTMLElement, { width, height }: Size, margin: number, density: number): Box[] {
  const edges: Box[] = [
    [0, 0, 0, height],
    [width, 0, width, height],
    [0, 0, width, 0],
    [0, height, width, height],
  ]
  return [...boxesOver(world.parentElement!), ...edges].map(([left, top, right, bottom]) => [
    (left + margin) * density,
    (top + margin) * density,
    (right + margin) * density,
    (bottom + margin) * density,
  ])
}

/** Base font size of a page, for which the sizes of names are defined. */
const USUAL_PX = 17
const typeSize = (element: HTMLElement): number =>
  Number.parseFloat(getComputedStyle(element).fontSize) / USUAL_PX || 1

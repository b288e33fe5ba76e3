/** The moving marks: elements over the canvases, which glide from one place to the next. */
import type { Mark } from '../design/marks.tsx'
import { type Camera, scaleOf, type Size, worldX, worldY } from './projection.ts'

const GLIDE_MS = 1_400

interface Spot {
  x: number
  y: number
}
export type Places = Partial<Record<Mark, { readonly lat: number; readonly lng: number } | null>>

const calm = matchMedia('(prefers-reduced-motion: reduce)')

export class MovingMarks {
  readonly #shown = new Map<Mark, Spot>()
  #target = new Map<Mark, Spot>()
  #painted: Camera | null = null
  #size: Size = { width: 0, height: 0 }
  #frame = 0

  /** @param elements one per mark; one without a place is hidden */
  constructor(private readonly elements: ReadonlyMap<Mark, HTMLElement>) {}

  /** Moves the marks to their current places. */
  move(places: Places): void {
    this.#target = new Map(
      Object.entries(places).flatMap(([mark, place]) =>
        place ? [[mark as Mark, { x: worldX(place.lng), y: worldY(place.lat) }] as const] : [],
      ),
    )
    const from = new Map([...this.#shown].map(([mark, spot]) => [mark, { ...spot }]))
    const startMs = performance.now()
    cancelAnimationFrame(this.#frame)
    const step = (): void => {
      const share = calm.matches ? 1 : Math.min(1, (performance.now() - startMs) / GLIDE_MS)
      const eased = 1 - (1 - share) ** 3
      this.#shown.clear()
      for (const [mark, to] of this.#target) {
        const { x, y } = from.get(mark) ?? to
        this.#shown.set(mark, { x: x + (to.x - x) * eased, y: y + (to.y - y) * eased })
      }
      this.#place()
      if (share < 1) this.#frame = requestAnimationFrame(step)
    }
    step()
  }

  painted(camera: Camera, size: Size): void {
    this.#painted = camera
    this.#size = size
    this.#place()
  }

  stop(): void {
    cancelAnimationFrame(this.#frame)
  }

  #place(): void {
    if (this.#painted === null) return
    const { x, y, zoom } = this.#painted
    const scale = scaleOf(zoom)
    for (const [mark, element] of this.elements) {
      const spot = this.#shown.get(mark)
      element.hidden = spot === undefined
      if (spot === undefined) continue
      const left = this.#size.width / 2 + (spot.x - x) * scale
      const top = this.#size.height / 2 + (spot.y - y) * scale
      element.style.transform = `translate(${left}px, ${top}px) scale(var(--unstretch, 1))`
    }
  }
}

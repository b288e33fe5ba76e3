/** The map on the page of a link: the way walked, the route with its stations, and where the pilgrim is. */
import type { EventRoute } from '#shared/client/index.ts'
import type { Ground } from '../map/draw-ground.ts'
import { drawWay } from '../map/draw-way.ts'
import { LAND, loadAtlas, placedStations } from '../map/ground.ts'
import { MapFrame } from '../map/map-frame.ts'
import { type Bounds, boundsOf, fitting, worldX, worldY } from '../map/projection.ts'
import { routeShapes, type Shape, shapeOf } from '../map/shapes.ts'

/** Set by the build: addresses of coasts and towns. */
declare const DATA_FILES: Readonly<Record<string, string>>

/** What the service writes into `data-way` (services/feedback-media/shares/progress.ts). */
interface ShownWay {
  readonly line: readonly (readonly [lng: number, lat: number])[]
  readonly fit: readonly (readonly [lng: number, lat: number])[]
}

/** Room for names, and at the right for buttons. */
const INSETS = { top: 40, right: 72, bottom: 40, left: 56 }
/** The closest zoom, some 3 km wide: closer, a short walk would be a line without surroundings. */
const CLOSEST = 14

class LiveMap {
  readonly #camera: MapFrame
  #ground: Ground = {
    counties: null,
    towns: null,
    route: null,
    stations: [],
    mine: null,
    walkedKm: null,
    language: document.documentElement.lang,
  }
  #line: Shape | null = null
  /** The route was read, or the event has none. */
  #hasRoute = false
  #bounds: Bounds = LAND

  constructor(readonly figure: HTMLElement) {
    this.#camera = new MapFrame(figure.querySelector<HTMLElement>('.map-frame')!, {
      scene: { ground: this.#ground, crowd: null },
      home: (size) => fitting(this.#bounds, size, INSETS, CLOSEST),
      onNamed: (marks) => this.#draw({ marks }),
      onShared: () => undefined,
    })
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#camera.recolour())
    figure.addEventListener('click', ({ target }) => {
      const by = (target as Element).closest<HTMLElement>('[data-zoom]')?.dataset['zoom']
      if (by === '0') this.#camera.follow()
      else if (by !== undefined) this.#camera.zoom(Number(by))
    })
    void loadAtlas(DATA_FILES['counties'], (counties) => {
      figure.querySelector<HTMLElement>('.map-source')!.hidden = false
      this.#draw({ counties })
    })
    void loadAtlas(DATA_FILES['towns'], (towns) => this.#draw({ towns }))
  }

  async #loadRoute(): Promise<void> {
    try {
      const answer = await fetch('/api/event/route', { credentials: 'omit' })
      if (!answer.ok) return
      this.#hasRoute = true
      const { data } = (await answer.json()) as { readonly data: EventRoute }
      this.#draw({ route: routeShapes(data), stations: placedStations(data, this.#ground.language) })
    } catch {
      // The way is shown without the route until the page is read again.
      this.#hasRoute = false
    }
  }

  /** Shows what the service says now. The map stays where the reader has moved it. */
  show(): void {
    if (!this.#hasRoute) void this.#loadRoute()
    const { line, fit } = JSON.parse(this.figure.dataset['way']!) as ShownWay
    this.#line = shapeOf(line)
    this.#bounds = boundsOf(fit.map(([lng, lat]) => [worldX(lng), worldY(lat)] as const)) ?? LAND
    const [lng, lat] = line.at(-1)!
    this.#camera.marks({ me: { lng, lat } })
    this.#draw()
    this.#camera.refit()
  }

  #draw(changed: Partial<Ground> = {}): void {
    this.#ground = { ...this.#ground, ...changed }
    const line = this.#line
    this.#camera.update({
      ground: this.#ground,
      crowd: null,
      over: (context, view, colour) => {
        if (line === null || line.at.length < 4) return
        const day = { onFoot: [line], first: { x: line.at[0]!, y: line.at[1]! }, last: null }
        drawWay(context, view, { day }, colour)
      },
    })
  }
}

let map: LiveMap | null = null

/** @param figure the same one again, or another one */
export function showMap(figure: HTMLElement): void {
  if (map?.figure !== figure) map = new LiveMap(figure)
  map.show()
}

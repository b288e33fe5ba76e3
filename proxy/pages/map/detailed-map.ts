/** The detailed map, below the page's own pictures: loaded on request, and dropped when it fails. */
import { words } from './words.ts'
import { signal } from '@preact/signals'
import { showToast } from '../design/toast.tsx'
import { language } from '../frame/language.ts'
import type { Looking, Tiles } from './draw-tiles.ts'
import { type Camera, latOf, lngOf } from './projection.ts'
import { data, isScreen } from './state.ts'
import type { NamedPlace } from './tiles-style.ts'
import { MOST_DENSE, tokensOf } from './view.ts'

/** Set by the build: the event has tiles. Without them the page contains nothing of this. */
declare const HAS_TILES: boolean
const load = HAS_TILES ? () => import('./draw-tiles.ts') : null

/** A wall display has no reader to request it. */
export const hasDetailedMap = load !== null && !isScreen

export const detailed = signal<'off' | 'loading' | 'on'>('off')
/** Attribution of the tiles. */
export const tilesSource = signal('')

const lookingOf = ({ x, y, zoom }: Camera): Looking => ({ lng: lngOf(x), lat: latOf(y), zoom })

function hasGraphics(): boolean {
  const context = document.createElement('canvas').getContext('webgl2')
  context?.getExtension('WEBGL_lose_context')?.loseContext()
  return context !== null
}

export class DetailedMap {
  #tiles: Tiles | null = null

  /**
   * @param element below the page's own pictures
   * @param stations that the page names
   */
  constructor(
    private readonly element: HTMLElement,
    private readonly camera: () => Camera,
    private readonly stations: () => readonly NamedPlace[],
  ) {}

  /** Shows it, or the simple map again. */
  async toggle(): Promise<void> {
    if (detailed.value !== 'off') return this.hide()
    if (!hasGraphics()) return showToast(words.value.detailedUnsupported, { warning: true })
    detailed.value = 'loading'
    try {
      const tiles = await this.#draw()
      // The reader may have switched it off meanwhile.
      if (detailed.peek() !== 'loading') return tiles.remove()
      this.#tiles = tiles
      tilesSource.value = tiles.source
      tiles.look(lookingOf(this.camera()))
      detailed.value = 'on'
    } catch {
      this.#fail()
    }
  }

  look(camera: Camera): void {
    this.#tiles?.look(lookingOf(camera))
  }

  /** Call it when theme, language or stations have changed. */
  restyle(): void {
    this.#tiles?.restyle({
      colour: tokensOf(this.element),
      language: language.value,
      stations: this.stations(),
    })
  }

  hide(): void {
    detailed.value = 'off'
    this.#tiles?.remove()
    this.#tiles = null
  }

  async #draw(): Promise<Tiles> {
    const { drawTiles } = await load!()
    return drawTiles({
      element: this.element,
      tiles: data.files['tiles']!,
      worker: data.files['tilesWorker']!,
      density: MOST_DENSE,
      looking: lookingOf(this.camera()),
      colour: tokensOf(this.element),
      language: language.value,
      stations: this.stations(),
      onLost: () => this.#fail(),
    })
  }

  #fail(): void {
    this.hide()
    showToast(words.value.detailedAway, { warning: true })
  }
}

/** The map of the own way: it shows a whole day until the pilgrim moves it. */
import { MapFrame } from '../../map/map-frame.ts'
import type { Scene } from '../../map/painter.ts'
import { type Bounds, type Camera, fitting, type Insets, type Size } from '../../map/projection.ts'

/** A short way is no blot. */
const CLOSEST = 15.5

export class WayCamera extends MapFrame {
  #shown: Bounds | null = null

  /** @param insets room for what lies over the map; it grows with the letters */
  constructor(
    frame: HTMLElement,
    scene: Scene,
    still: boolean,
    private readonly insets: () => Insets,
  ) {
    super(frame, { camera: { x: 0.836, y: 0.431, zoom: 7 }, scene, still })
  }

  /** Looks at these places, wherever the pilgrim has moved the map. */
  show(bounds: Bounds): void {
    this.#shown = bounds
    this.follow()
  }

  /** The same day has grown: the map looks at all of it, unless the pilgrim has moved it. */
  grow(bounds: Bounds): void {
    this.#shown = bounds
    this.refit()
  }

  protected override home(size: Size): Camera {
    return this.#shown === null ? this.camera : fitting(this.#shown, size, this.insets(), CLOSEST)
  }
}

/** A map of cells for operators: it tells what it shows. The public map's modules do the drawing. */
import type { OverNames } from '../../map/labels.ts'
import { MapFrame, placing } from '../../map/map-frame.ts'
import type { Placing } from '../../map/mark-names.ts'
import type { Scene } from '../../map/painter.ts'
import { type Bounds, type Camera, fitting, latOf, lngOf, scaleOf, type Size } from '../../map/projection.ts'

const FIT_ZOOM = 14
/** Room for the marks, which stand above and beside their places, and at the right for the buttons. */
const INSETS = { top: 72, right: 116, bottom: 40, left: 40 }
/** What is shown before anything is known: Taiwan. */
const LAND: Bounds = { west: 0.833, north: 0.424, east: 0.8395, south: 0.438 }

/** What the map shows. */
export interface Seen {
  readonly zoom: number
  /** West, south, east, north in degrees. */
  readonly bbox: readonly [number, number, number, number]
}

interface CrowdCameraOptions {
  readonly scene: Scene
  /** The map shows another part of the world, and rests. */
  readonly onSeen: (seen: Seen) => void
  /** What the names on the map leave free, because a mark stands there. */
  readonly onNamed: (free: readonly OverNames[]) => void
  /** The pictures were painted: what stands over them is placed anew. */
  readonly onPainted: (place: Placing) => void
  /** The map moves; what does not move with its pictures is placed anew. */
  readonly onMoved: (place: () => Placing) => void
  /** A tap that moved nothing. */
  readonly onTap: (place: Placing, at: { readonly x: number; readonly y: number }) => void
  /** Somebody tried to move the map with what scrolls the page. */
  readonly onShared: (tried: 'wheel' | 'touch') => void
}

export class CrowdCamera extends MapFrame {
  #bounds: Bounds = LAND

  constructor(
    frame: HTMLElement,
    private readonly options: CrowdCameraOptions,
  ) {
    super(frame, {
      camera: { x: 0.836, y: 0.431, zoom: 7 },
      scene: options.scene,
      onShared: options.onShared,
    })
  }

  /** Everything that is to be seen; shown at once unless the operator has moved the map. */
  show(bounds: Bounds | null): void {
    this.#bounds = bounds ?? LAND
    this.refit()
  }

  protected override home(size: Size): Camera {
    return fitting(this.#bounds, size, INSETS, FIT_ZOOM)
  }

  protected override named(free: readonly OverNames[]): void {
    this.options.onNamed(free)
  }

  protected override moved(camera: Camera): void {
    this.options.onMoved(() => placing(camera, this.#sizeOfFrame()))
  }

  protected override tapped(x: number, y: number): void {
    const size = this.#sizeOfFrame()
    this.options.onTap(placing(this.camera, size), { x: x + size.width / 2, y: y + size.height / 2 })
  }

  #sizeOfFrame(): Size {
    return { width: this.frame.clientWidth, height: this.frame.clientHeight }
  }

  protected override painted(painted: Camera, size: Size): void {
    const scale = scaleOf(painted.zoom)
    this.options.onPainted(placing(painted, size))
    const [half, high] = [size.width / 2 / scale, size.height / 2 / scale]
    this.options.onSeen({
      zoom: painted.zoom,
      bbox: [
        lngOf(painted.x - half),
        latOf(painted.y + high),
        lngOf(painted.x + half),
        latOf(painted.y - high),
      ],
    })
  }
}

/** Pan, pinch, wheel, double tap and keys, as movements of a camera. */
import { type Camera, panned, zoomed } from './projection.ts'

const KEY_PX = 90
const KEY_ZOOM = 0.75
const DOUBLE_TAP_MS = 300
const DOUBLE_TAP_PX = 30
/** A pointer that moved less than this has not dragged. */
const TAP_PX = 8

interface Movable {
  camera(): Camera
  /** @param moving more movement follows */
  move(camera: Camera, moving: boolean): void
  /** A tap without movement, in CSS pixels from the centre. */
  tap(x: number, y: number): void
  /**
   * For a map in a page that scrolls: one finger and the wheel scroll the page, two fingers move the map, and the wheel
   * zooms it with Ctrl or when it has the focus. Called with the other gesture, to explain this.
   */
  shared?(tried: 'wheel' | 'touch'): void
}

interface Place {
  readonly x: number
  readonly y: number
}

const distance = (a: Place, b: Place): number => Math.hypot(a.x - b.x, a.y - b.y)

class Pointers {
  readonly #at = new Map<number, Place>()
  #pressed: Place = { x: 0, y: 0 }
  #dragged = false
  #lastTap = { x: 0, y: 0, atMs: -Infinity }

  constructor(
    private readonly map: Movable,
    /** CSS pixels from the centre. */
    private readonly place: (event: MouseEvent) => Place,
  ) {}

  press(event: PointerEvent): void {
    const at = this.place(event)
    if (this.#at.size === 0) {
      this.#pressed = at
      this.#dragged = false
    }
    this.#at.set(event.pointerId, at)
  }

  drag(event: PointerEvent): void {
    const before = this.#at.get(event.pointerId)
    if (before === undefined) return
    const now = this.place(event)
    if (distance(now, this.#pressed) > TAP_PX) this.#dragged = true
    const other = [...this.#at].find(([id]) => id !== event.pointerId)?.[1]
    this.#at.set(event.pointerId, now)
    const { map } = this
    if (other === undefined) {
      if (map.shared !== undefined && event.pointerType === 'touch') {
        // The map stays; the page scrolls.
        if (this.#dragged) map.shared('touch')
        return
      }
      map.move(panned(map.camera(), now.x - before.x, now.y - before.y), true)
      return
    }
    this.#dragged = true
    const by = Math.log2(Math.max(1, distance(now, other)) / Math.max(1, distance(before, other)))
    const moved = panned(map.camera(), (now.x - before.x) / 2, (now.y - before.y) / 2)
    map.move(zoomed(moved, by, (now.x + other.x) / 2, (now.y + other.y) / 2), true)
  }

  release(event: PointerEvent): void {
    if (!this.#at.delete(event.pointerId) || this.#at.size > 0) return
    const { map } = this
    map.move(map.camera(), false)
    if (this.#dragged || event.type === 'pointercancel') return
    const now = this.place(event)
    const soon = event.timeStamp - this.#lastTap.atMs < DOUBLE_TAP_MS
    const double = soon && distance(now, this.#lastTap) < DOUBLE_TAP_PX
    this.#lastTap = { ...now, atMs: double ? -Infinity : event.timeStamp }
    if (double) map.move(zoomed(map.camera(), 1, now.x, now.y), false)
    else map.tap(now.x, now.y)
  }
}

/** Listens until the signal aborts. */
export function listenToGestures(element: HTMLElement, map: Movable, signal: AbortSignal): void {
  const place = (event: MouseEvent): Place => {
    const box = element.getBoundingClientRect()
    return { x: event.clientX - box.left - box.width / 2, y: event.clientY - box.top - box.height / 2 }
  }
  const pointers = new Pointers(map, place)
  const press = (event: PointerEvent): void => {
    if (event.button !== 0) return
    element.setPointerCapture(event.pointerId)
    pointers.press(event)
  }
  element.addEventListener('pointerdown', press, { signal })
  element.addEventListener('pointermove', (event) => pointers.drag(event), { signal })
  element.addEventListener('pointerup', (event) => pointers.release(event), { signal })
  element.addEventListener('pointercancel', (event) => pointers.release(event), { signal })
  const wheel = (event: WheelEvent): void => {
    const isMine = event.ctrlKey || event.metaKey || element.contains(document.activeElement)
    if (map.shared === undefined || isMine) turnWheel(event, map, place(event))
    else map.shared('wheel')
  }
  if (map.shared !== undefined) element.addEventListener('touchmove', keepPage, { signal, passive: false })
  element.addEventListener('wheel', wheel, {
    signal,
    passive: false,
  })
  element.addEventListener('keydown', (event) => moveByKey(event, map), { signal })
}

/** Two fingers move the map instead of the page. */
function keepPage(event: TouchEvent): void {
  if (event.touches.length > 1 && event.cancelable) event.preventDefault()
}

const LINE_PX = 20

function turnWheel(event: WheelEvent, map: Movable, at: Place): void {
  event.preventDefault()
  const pixels = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1)
  // A pinch on a touch pad arrives as a wheel event with Ctrl, in smaller steps.
  const by = -pixels * (event.ctrlKey ? 0.012 : 0.0025)
  map.move(zoomed(map.camera(), Math.max(-1, Math.min(1, by)), at.x, at.y), true)
}

const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [KEY_PX, 0],
  ArrowRight: [-KEY_PX, 0],
  ArrowUp: [0, KEY_PX],
  ArrowDown: [0, -KEY_PX],
}

function moveByKey(event: KeyboardEvent, map: Movable): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const arrow = ARROWS[event.key]
  if (arrow !== undefined) map.move(panned(map.camera(), ...arrow), true)
  else if (event.key === '+' || event.key === '=') map.move(zoomed(map.camera(), KEY_ZOOM), false)
  else if (event.key === '-') map.move(zoomed(map.camera(), -KEY_ZOOM), false)
  else return
  event.preventDefault()
}

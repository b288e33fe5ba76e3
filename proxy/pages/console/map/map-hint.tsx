/** How to move a map over which the page scrolls. It is shown to whoever tried it otherwise. */
import { words } from '../words.ts'

const SHOWN_MS = 1_600

const timers = new WeakMap<Element, Timer>()

type Timer = ReturnType<typeof setTimeout>

/** The keyboard has its own keys, which the map's name tells, so nothing is said to screen readers. */
export const MapHint = () => (
  <p class="map-hint" aria-hidden="true">
    <span class="wheel">{words.value.now.wheelHint}</span>
    <span class="touch">{words.value.now.touchHint}</span>
  </p>
)

/** @param frame of the map, beside the hint */
export function showHint(frame: HTMLElement | null, tried: 'wheel' | 'touch'): void {
  const hint = frame?.parentElement?.querySelector<HTMLElement>('.map-hint')
  if (hint === null || hint === undefined) return
  hint.dataset['tried'] = tried
  clearTimeout(timers.get(hint))
  timers.set(
    hint,
    setTimeout(() => delete hint.dataset['tried'], SHOWN_MS),
  )
}

/** Which single place of the map is pointed at, or was chosen. */
import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'

/** A pointer that only passes shows nothing; one on its way to the card may leave the place for a moment. */
const SHOW_MS = 150
const HIDE_MS = 300

export interface Pointed {
  readonly id: string
  /** It was chosen, and stays until it is closed. */
  readonly kept: boolean
  /** The keyboard chose it, and goes on in the card. */
  readonly focused: boolean
}

export interface Pointing {
  readonly at: Signal<Pointed | null>
  over(id: string): void
  out(): void
  /** The pointer is on the card. */
  stay(): void
  keep(id: string, focused: boolean): void
  close(): void
}

/** Which place has its card. */
export function usePointing(): Pointing {
  const at = useSignal<Pointed | null>(null)
  const timer = useRef<number | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  return useMemo(() => {
    const later = (ms: number, next: Pointed | null) => {
      clearTimeout(timer.current)
      if (at.peek()?.kept !== true) timer.current = window.setTimeout(() => (at.value = next), ms)
    }
    const set = (next: Pointed | null) => {
      clearTimeout(timer.current)
      at.value = next
    }
    return {
      at,
      over: (id) => later(SHOW_MS, { id, kept: false, focused: false }),
      out: () => later(HIDE_MS, null),
      stay: () => clearTimeout(timer.current),
      keep: (id, focused) => set({ id, kept: true, focused }),
      close: () => set(null),
    }
  }, [at])
}

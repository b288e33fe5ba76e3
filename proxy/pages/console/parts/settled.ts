import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

const TYPING_MS = 300

/** A text without outer spaces, once the operator has stopped typing. */
export function useSettled(typed: Signal<string>): string {
  const settled = useSignal(typed.value.trim())
  const text = typed.value.trim()
  useEffect(() => {
    const timer = setTimeout(() => (settled.value = text), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text, settled])
  return settled.value
}

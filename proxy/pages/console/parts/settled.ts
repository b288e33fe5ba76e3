import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

/** What an operator has typed, once they have stopped. @param typingMs the pause that ends the typing */
export function useSettled<T>(typed: T, typingMs = 300): T {
  const settled = useSignal(typed)
  useEffect(() => {
    const timer = setTimeout(() => (settled.value = typed), typingMs)
    return () => clearTimeout(timer)
  }, [typed, typingMs, settled])
  return settled.value
}

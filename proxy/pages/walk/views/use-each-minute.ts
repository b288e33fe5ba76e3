/** Reads what others change: each minute, and when somebody looks again; not while hidden or offline. */
import { useEffect } from 'preact/hooks'

const AGAIN_MS = 60_000

/** @param read the same function at each drawing */
export function useEachMinute(read: () => unknown): void {
  useEffect(() => {
    const again = () => {
      if (document.visibilityState === 'visible' && navigator.onLine) read()
    }
    const timer = setInterval(again, AGAIN_MS)
    document.addEventListener('visibilitychange', again)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', again)
    }
  }, [read])
}

/** Reads what a view shows: when it is opened, when the network is back, and after a failure again and again. */
import { useEffect } from 'preact/hooks'

const AGAIN_MS = 20_000

/**
 * @param read the same function at each drawing
 * @param failed whether the last reading has failed
 */
export function useReading(read: () => Promise<unknown>, failed: () => boolean): void {
  useEffect(() => {
    const again = () => void read()
    again()
    const timer = setInterval(() => {
      if (failed() && document.visibilityState === 'visible') again()
    }, AGAIN_MS)
    addEventListener('online', again)
    return () => {
      clearInterval(timer)
      removeEventListener('online', again)
    }
  }, [read, failed])
}

/** Reads what a view shows: when it is opened, when the network is back, and again while that is needed. */
import { useEffect } from 'preact/hooks'

const AGAIN_MS = 20_000

/**
 * @param read the same function at each drawing
 * @param isNeeded whether the last reading has failed, or what it read has changed since
 */
export function useReading(read: () => Promise<unknown>, isNeeded: () => boolean): void {
  useEffect(() => {
    const again = () => void read()
    again()
    const timer = setInterval(() => {
      if (isNeeded() && document.visibilityState === 'visible') again()
    }, AGAIN_MS)
    addEventListener('online', again)
    return () => {
      clearInterval(timer)
      removeEventListener('online', again)
    }
  }, [read, isNeeded])
}

const MINUTE_MS = 60_000

/**
 * Reads what others change: each minute, and when somebody looks again; not while hidden or offline.
 * @param read the same function at each drawing
 */
export function useEachMinute(read: () => unknown): void {
  useEffect(() => {
    const again = () => {
      if (document.visibilityState === 'visible' && navigator.onLine) read()
    }
    const timer = setInterval(again, MINUTE_MS)
    document.addEventListener('visibilitychange', again)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', again)
    }
  }, [read])
}

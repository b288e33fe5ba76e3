/** The time on a screen that nobody touches. */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { lastFix } from '../recording/recorder.ts'
import { now } from '../session/service.ts'

const time = signal(0)

/** The time, read anew every 15 s while somebody looks. */
export function useTime(): number {
  useEffect(() => {
    const read = () => (time.value = now())
    read()
    const timer = setInterval(read, 15_000)
    return () => clearInterval(timer)
  }, [])
  return Math.max(time.value, lastFix.value?.t ?? 0)
}

/** Hooks with which views call the service: to read what they show, and to change it. */
import { useEffect } from 'preact/hooks'
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { Answer, ClientError, Kept } from '#shared/client/index.ts'
import { person } from '../session/current-state.ts'
import { words } from '../words.ts'
import { noteError, profileChanged, refreshProfile } from '../session/service.ts'
import { NotDone } from './notice.tsx'

const AGAIN_MS = 20_000

/**
 * Reads when the view is opened, when the network is back, and again while that is needed.
 * @param read the same function at each render
 * @param isNeeded whether the last read failed, or its data are outdated
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
 * Reads data that others change: every minute, and when the page becomes visible; not while hidden or
 * offline.
 * @param read the same function at each render
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

/** Whether name and consent have reached the organisers or are queued. */
export const toldText = (): string => words.value.me[person.value?.known === false ? 'waits' : 'saved']

/** Runs a change and shows its result. */
export function useChange() {
  const error = useSignal<ClientError | null>(null)
  const done = useSignal(false)
  const busy = useSignal(false)
  return {
    busy,
    done,
    note: (saved: ComponentChildren): ComponentChildren => {
      if (error.value !== null) return <NotDone error={error.value} />
      return done.value && saved !== null ? <p aria-live="polite">{saved}</p> : null
    },
    /** Queues a change in the outbox. @returns whether the device has stored it */
    async keep(change: () => Promise<Kept>): Promise<boolean> {
      const result = await change()
      done.value = result.ok
      error.value = result.ok ? null : result.error
      return result.ok
    },
    async run<T>(change: () => Promise<Answer<T>>): Promise<T | null> {
      busy.value = true
      const answer = await change()
      busy.value = false
      done.value = answer.ok
      error.value = answer.ok ? null : answer.error
      if (answer.ok) {
        profileChanged()
        await refreshProfile()
        return answer.data
      }
      noteError(answer.error)
      return null
    },
  }
}

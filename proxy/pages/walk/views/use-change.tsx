/** A change of the pilgrim's data: it runs, and the view says how it went. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { Answer, ClientError } from '#shared/client/index.ts'
import { notDoneSentence } from '../problem.ts'
import { noteError, profileChanged, refreshProfile } from '../session/service.ts'
import { Notice } from './view.tsx'

/** Runs a change and says how it went. */
export function useChange() {
  const error = useSignal<ClientError | null>(null)
  const done = useSignal(false)
  const busy = useSignal(false)
  return {
    busy,
    done,
    said: (saved: ComponentChildren): ComponentChildren => {
      if (error.value !== null) return <Notice kind="warning">{notDoneSentence(error.value)}</Notice>
      return done.value && saved !== null ? <p aria-live="polite">{saved}</p> : null
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

/** The survey's draft, and its way to the service. */
import { signal } from '@preact/signals'
import type { ClientError } from '#shared/client/index.ts'
import { keep, kept } from '../session/kept.ts'
import { client, noteError, profileChanged, refreshProfile } from '../session/service.ts'
import type { Draft } from './survey-questions.ts'

export const draft = kept<Draft>('walk-survey', {})
/** Which question is shown, from 0. */
export const place = kept('walk-survey-place', 0)
export const surveyState = signal<'open' | 'empty' | 'sending' | 'sent' | ClientError>('open')

export async function sendSurvey(): Promise<void> {
  if (Object.keys(draft.value).length === 0) {
    surveyState.value = 'empty'
    return
  }
  surveyState.value = 'sending'
  const answer = await client.submitSurvey({ survey: draft.value as Record<string, string | string[]> })
  if (!answer.ok) {
    surveyState.value = answer.error
    return noteError(answer.error)
  }
  keep(draft, {})
  keep(place, 0)
  surveyState.value = 'sent'
  profileChanged()
  await refreshProfile()
}

/** The survey: answers are kept on the device, sent when the pilgrim says so, and shown again to be changed. */
import { computed, signal } from '@preact/signals'
import type { ClientError } from '#shared/client/index.ts'
import { keepEntry, sendKept, takeRefused, waitingOf, whenSettled, withdrawEntries } from '../outbox.ts'
import { person } from '../session/current-state.ts'
import type { SurveyAnswers } from '../session/senders.ts'
import { profile, profileChanged, refreshProfile } from '../session/service.ts'
import { keep, kept } from '../session/stored-signals.ts'

export const QUESTIONS = ['q1', 'q2', 'q3', 'q4', 'q5', 'q6', 'q7', 'q8', 'q9', 'q10'] as const
export type Question = (typeof QUESTIONS)[number]

/** Questions with several answers. */
export const SEVERAL: ReadonlySet<Question> = new Set(['q3', 'q5', 'q6'])
/** Questions that are answered in own words. */
export const IN_WORDS: ReadonlySet<Question> = new Set(['q10'])

/** A chosen value, several, or a text. */
type Answer = string | readonly string[]
type Draft = Readonly<Partial<Record<Question, Answer>>>

/** The draft after a value was touched: chosen, or taken back. An empty answer is none. */
function answered(draft: Draft, question: Question, value: string): Draft {
  const { [question]: before, ...others } = draft
  if (IN_WORDS.has(question)) return value.trim() === '' ? others : { ...others, [question]: value }
  if (!SEVERAL.has(question)) return before === value ? others : { ...others, [question]: value }
  const chosen = Array.isArray(before) ? (before as readonly string[]) : []
  const next = chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value]
  return next.length === 0 ? others : { ...others, [question]: next }
}

export const isChosen = (draft: Draft, question: Question, value: string): boolean => {
  const answer = draft[question]
  return Array.isArray(answer) ? answer.includes(value) : answer === value
}

/** Answers that were given or changed, and are not sent. Empty: nothing is. */
export const draft = kept<Draft>('walk-survey', {})
/** Which question is shown, from 0. */
export const place = kept('walk-survey-place', 0)
export const surveyState = signal<'open' | 'empty' | 'sending' | 'sent' | ClientError>('open')
interface OfSomebody {
  readonly userId: string
  readonly answers: Draft
}
const NOBODY: OfSomebody = { userId: '', answers: {} }
/** What this phone has sent: the service replaces all answers by those of the next form. */
const sentAnswers = kept<OfSomebody>('walk-survey-sent', NOBODY)

const ownId = (): string => person.value?.userId ?? ''
/** The answers are complete, and go by themselves when there is a network. */
export const surveyWaits = computed(() => waitingOf('survey') > 0)

const sentByMe = (): Draft => (sentAnswers.value.userId === ownId() ? sentAnswers.value.answers : {})
const isBegun = (): boolean => Object.keys(draft.value).length > 0

/** What the form shows: what is being changed, otherwise what was sent. */
export const answers = computed<Draft>(() => (isBegun() ? draft.value : sentByMe()))

/** The survey was answered with another phone: this one can not show the answers, and a new form replaces them. */
export const answeredElsewhere = computed(
  () => profile.value?.survey_completed === 1 && Object.keys(sentByMe()).length === 0,
)

/** A value was chosen or taken back. What waited is being changed, so it no longer goes by itself. */
export function answer(question: Question, value: string): void {
  if (surveyWaits.value) void withdrawEntries('survey')
  if (typeof surveyState.value === 'object') surveyState.value = 'open'
  keep(draft, answered(answers.value, question, value))
}

/** The answers wait no longer: the pilgrim goes on with them. */
export function changeAnswers(): void {
  void withdrawEntries('survey')
  surveyState.value = 'open'
}

/** The pilgrim sends the answers. Without a network they wait. */
export async function sendSurvey(): Promise<void> {
  if (Object.keys(answers.value).length === 0) {
    surveyState.value = 'empty'
    return
  }
  surveyState.value = 'sending'
  keep(draft, answers.value)
  const isKept = await keepEntry('survey', { answers: draft.value })
  if (!isKept.ok) return void (surveyState.value = isKept.error)
  await sendKept()
  // It waits, and goes by itself.
  if (surveyState.peek() === 'sending') surveyState.value = 'open'
}

whenSettled('survey', (entries, { error }) => {
  if (error !== undefined) {
    void takeRefused('survey')
    surveyState.value = error
    return
  }
  const { userId, fields } = entries.at(-1)!
  const { answers: given } = fields as { readonly answers: SurveyAnswers }
  keep(sentAnswers, { userId, answers: given })
  // Another answer may have been given meanwhile.
  const isSame = JSON.stringify(draft.peek()) === JSON.stringify(given)
  surveyState.value = isSame ? 'sent' : 'open'
  if (isSame) forgetSurvey()
  profileChanged()
  void refreshProfile()
})

/** Forgets the draft: it was sent, or another walk is taken over. */
export function forgetSurvey(): void {
  keep(draft, {})
  keep(place, 0)
}

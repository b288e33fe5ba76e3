/**
 * The survey: answers are stored on the device, sent on request, and shown again so that they can be changed.
 */
import { computed, signal } from '@preact/signals'
import type { ClientError, Data } from '#shared/client/index.ts'
import { keepEntry, sendKept, takeRefused, waitingOf, whenSettled, withdrawEntries } from '../outbox.ts'
import { nameIn } from '#shared/core/rules/languages.ts'
import { DEFAULT_KINDS } from '#shared/core/rules/survey-kinds.ts'
import type { SurveyWords } from '#shared/locales/words.ts'
import { language } from '../../frame/language.ts'
import { person } from '../session/current-state.ts'
import type { SurveyAnswers } from '../session/senders.ts'
import { client, config, profile, profileChanged, refreshProfile } from '../session/service.ts'
import { keep, kept, valueOfWalk } from '../session/stored-signals.ts'

type Form = Data<'readSurveyForm'>

/** The owner's questions as last read, so that they are available offline. */
const read = kept<Form | null>('walk-survey-form', null)

/** A question as shown. Its name is `q1` to `q10`. */
export interface Question {
  readonly name: string
  readonly kind: SurveyKind
  readonly ask: string
  /** Each with the value that is sent for it. */
  readonly choices: readonly (readonly [value: string, text: string])[]
}
export type SurveyKind = Form['questions'][number]['kind']

/** Whether the event has its own questions and this phone has not read them yet. */
export const isFormMissing = computed(() => formVersion() > 0 && read.value?.version !== formVersion())

/** Absent in a configuration that an older release stored. */
const formVersion = (): number => config.value?.survey_version ?? 0

/** The questions in the reader's language: the owner's, or the default ones if there are none. */
export function questionsOf({ questions }: SurveyWords): readonly Question[] {
  const own = formVersion() > 0 ? read.value : null
  if (own === null)
    return Object.entries(questions).map(([name, { ask, answers }]) => ({
      name,
      kind: DEFAULT_KINDS[name as keyof typeof questions],
      ask,
      choices: Object.entries<string>(answers),
    }))
  const inWords = (texts: Parameters<typeof nameIn>[0]) =>
    nameIn(texts, language.value, config.value?.language ?? language.value)
  return own.questions.map(({ kind, ask, choices }, i) => ({
    name: `q${i + 1}`,
    kind,
    ask: inWords(ask),
    choices: choices.map(({ value, names }) => [value, inWords(names)]),
  }))
}

/** Reads the event's own questions, if it has any. */
export async function readForm(): Promise<void> {
  if (!isFormMissing.value) return
  const answer = await client.readSurveyForm()
  if (answer.ok) keep(read, answer.data)
}

/** A chosen value, several values, a number, or a text. */
type Answer = string | number | readonly string[]
type Draft = Readonly<Record<string, Answer>>

/** The draft after a value was selected or deselected. Empty answers are removed. */
function answered(draft: Draft, { name: question, kind }: Question, value: string): Draft {
  const { [question]: before, ...others } = draft
  if (kind === 'text') return value.trim() === '' ? others : { ...others, [question]: value }
  if (kind === 'number')
    return Number.isFinite(Number.parseFloat(value)) ? { ...others, [question]: Number(value) } : others
  if (kind === 'choice') return before === value ? others : { ...others, [question]: value }
  const chosen = Array.isArray(before) ? (before as readonly string[]) : []
  const next = chosen.includes(value) ? chosen.filter((other) => other !== value) : [...chosen, value]
  return next.length === 0 ? others : { ...others, [question]: next }
}

export const isChosen = (draft: Draft, { name }: Question, value: string): boolean => {
  const answer = draft[name]
  return Array.isArray(answer) ? answer.includes(value) : answer === value
}

/** Answers that were entered or changed and are not sent yet. Empty: none. */
export const draft = valueOfWalk<Draft>({}, 'walk-survey')
/** Index of the shown question, from 0. */
export const place = valueOfWalk(0, 'walk-survey-place')
export const surveyState = signal<'open' | 'empty' | 'sending' | 'sent' | ClientError>('open')
interface OfSomebody {
  readonly userId: string
  readonly answers: Draft
}
const NOBODY: OfSomebody = { userId: '', answers: {} }
/** Answers sent from this phone. The service replaces all answers with those of the next form. */
const sentAnswers = valueOfWalk<OfSomebody>(NOBODY, 'walk-survey-sent')

const ownId = (): string => person.value?.userId ?? ''
/** The answers are complete and are sent automatically when there is a network. */
export const surveyWaits = computed(() => waitingOf('survey') > 0)

const sentByMe = (): Draft => (sentAnswers.value.userId === ownId() ? sentAnswers.value.answers : {})
const isBegun = (): boolean => Object.keys(draft.value).length > 0

/** What the form shows: the draft, otherwise the answers that were sent. */
export const answers = computed<Draft>(() => (isBegun() ? draft.value : sentByMe()))

/**
 * The survey was answered on another phone: this one cannot show the answers, and a new form replaces them.
 */
export const answeredElsewhere = computed(
  () => profile.value?.survey_completed === 1 && Object.keys(sentByMe()).length === 0,
)

/** A value was selected or deselected. Queued answers are withdrawn because they are being changed. */
export function answer(question: Question, value: string): void {
  if (surveyWaits.value) void withdrawEntries('survey')
  if (typeof surveyState.value === 'object') surveyState.value = 'open'
  keep(draft, answered(answers.value, question, value))
}

/** Withdraws the queued answers so that the pilgrim can change them. */
export function changeAnswers(): void {
  void withdrawEntries('survey')
  surveyState.value = 'open'
}

/** The answers to these questions only. An earlier form may have had other questions and choices. */
const answersTo = (questions: readonly Question[], draft: Draft): Draft =>
  Object.fromEntries(
    questions.flatMap(({ name, kind, choices }) => {
      const given = draft[name]
      if (given === undefined) return []
      if (kind === 'text' || kind === 'number') return Array.isArray(given) ? [] : [[name, given]]
      const isKnown = (value: unknown) => choices.some(([of]) => of === value)
      const known = [given].flat().filter(isKnown) as string[]
      if (known.length === 0) return []
      return [[name, kind === 'several' ? known : known[0]!]]
    }),
  )

/** Sends the answers. Without a network they stay queued. */
export async function sendSurvey(questions: readonly Question[]): Promise<void> {
  const given = answersTo(questions, answers.value)
  if (Object.keys(given).length === 0) {
    surveyState.value = 'empty'
    return
  }
  surveyState.value = 'sending'
  keep(draft, given)
  const isKept = await keepEntry('survey', { answers: draft.value, formVersion: formVersion() })
  if (!isKept.ok) return void (surveyState.value = isKept.error)
  await sendKept()
  // Still queued: it is sent automatically.
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
  // Another answer may have been entered meanwhile.
  const isSame = JSON.stringify(draft.peek()) === JSON.stringify(given)
  surveyState.value = isSame ? 'sent' : 'open'
  if (isSame) {
    keep(draft, {})
    keep(place, 0)
  }
  profileChanged()
  void refreshProfile()
})

/** The survey, one question at a time. Each answer is kept on the device at once. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ClientError } from '#shared/client/index.ts'
import type { SurveyWords, WalkWords } from '#shared/locales/walk-words.ts'
import { Button } from '../../design/button.tsx'
import { language } from '../../frame/language.ts'
import { sentenceOf } from '../problem.ts'
import {
  answered,
  type Draft,
  IN_WORDS,
  isChosen,
  type Question,
  QUESTIONS,
  SEVERAL,
} from '../say/survey-questions.ts'
import { keep, kept } from '../session/kept.ts'
import { client, noteError, refreshProfile } from '../session/service.ts'
import { SURVEY_FILES } from '../words.ts'
import { Notice, View } from './view.tsx'

export const draft = kept<Draft>('walk-survey', {})
const place = kept('walk-survey-place', 0)

export function Survey({ words }: { readonly words: WalkWords }) {
  const survey = useSignal<SurveyWords | null>(null)
  const chosen = language.value
  useEffect(() => void SURVEY_FILES[chosen]().then((file) => (survey.value = file.survey)), [chosen])
  const sent = useSignal(false)
  const error = useSignal<ClientError | null>(null)
  const empty = useSignal(false)
  const busy = useSignal(false)
  const own = survey.value
  if (own === null) return null
  const number = Math.min(place.value, QUESTIONS.length - 1)
  const question = QUESTIONS[number]!
  const isLast = number === QUESTIONS.length - 1
  const send = async () => {
    empty.value = Object.keys(draft.value).length === 0
    if (empty.value) return
    busy.value = true
    const answer = await client.submitSurvey({ survey: draft.value as Record<string, string | string[]> })
    busy.value = false
    error.value = answer.ok ? null : answer.error
    if (!answer.ok) return noteError(answer.error)
    keep(draft, {})
    keep(place, 0)
    sent.value = true
    void refreshProfile()
  }
  return (
    <View title={own.title} back={words.back}>
      {sent.value ? (
        <Notice>{own.sent}</Notice>
      ) : (
        <>
          <p class="quiet">{number === 0 ? own.intro : own.kept}</p>
          <Ask words={own} question={question} number={number} />
          {error.value === null ? null : <Notice kind="warning">{sentenceOf(words, error.value)}</Notice>}
          {empty.value ? <Notice kind="warning">{own.nothing}</Notice> : null}
          <div class="row ends">
            <Button disabled={number === 0} onClick={() => keep(place, number - 1)}>
              {own.before}
            </Button>
            {isLast ? (
              <Button kind="primary" busy={busy.value} onClick={() => void send()}>
                {own.send}
              </Button>
            ) : (
              <Button kind="primary" onClick={() => keep(place, number + 1)}>
                {own.next}
              </Button>
            )}
          </div>
        </>
      )}
    </View>
  )
}

function Ask(props: { readonly words: SurveyWords; readonly question: Question; readonly number: number }) {
  const { words, question, number } = props
  const { ask, answers } = words.questions[question]
  const touch = (value: string) => keep(draft, answered(draft.value, question, value))
  const legend = (
    <>
      <span class="quiet">{words.progress(number + 1, QUESTIONS.length)}</span>
      <br />
      <strong>{ask}</strong>
    </>
  )
  if (IN_WORDS.has(question))
    return (
      <div class="field">
        <label for={question}>{legend}</label>
        <textarea
          id={question}
          rows={5}
          maxLength={2_000}
          value={(draft.value[question] as string | undefined) ?? ''}
          onInput={({ currentTarget }) => touch(currentTarget.value)}
        />
      </div>
    )
  const several = SEVERAL.has(question)
  return (
    <fieldset class="answers" key={question}>
      <legend>{legend}</legend>
      {several ? <p class="quiet">{words.several}</p> : null}
      {Object.entries<string>(answers).map(([value, text]) => (
        <label key={value} class="check">
          <input
            type={several ? 'checkbox' : 'radio'}
            name={question}
            checked={isChosen(draft.value, question, value)}
            onClick={() => touch(value)}
          />
          {text}
        </label>
      ))}
    </fieldset>
  )
}

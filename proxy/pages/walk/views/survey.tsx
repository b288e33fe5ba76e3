/** The survey, one question at a time. Each answer is kept on the device at once. */
import { SURVEY_FILES, words } from '../words.ts'
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Language } from '#shared/contracts/bot.ts'
import type { SurveyWords } from '#shared/locales/words.ts'
import { Button } from '../../design/button.tsx'
import { language } from '../../frame/language.ts'
import { whyWaits } from './waiting.tsx'
import {
  answer,
  answeredElsewhere,
  answers,
  changeAnswers,
  IN_WORDS,
  isChosen,
  place,
  type Question,
  QUESTIONS,
  sendSurvey,
  SEVERAL,
  surveyState,
  surveyWaits,
} from '../feedback/survey.ts'
import { keep } from '../session/stored-signals.ts'
import { Closed } from './feedback-tab.tsx'
import { NotDone, Notice, NotLoaded, View } from './view.tsx'

/** Words in the language that was chosen last; `missing`: they could not be loaded. */
const survey = signal<SurveyWords | 'missing' | null>(null)

async function loadWords(chosen: Language): Promise<void> {
  try {
    survey.value = (await SURVEY_FILES[chosen]()).words
  } catch {
    survey.value ??= 'missing'
  }
}

export function Survey() {
  const chosen = language.value
  useEffect(() => {
    if (surveyState.value !== 'sending') surveyState.value = 'open'
    void loadWords(chosen)
  }, [chosen])
  const own = survey.value
  if (own === null || own === 'missing')
    return (
      <View title={words.value.say.survey} back>
        {own === null ? null : <NotLoaded />}
      </View>
    )
  const state = surveyState.value
  const isDone = state === 'sent' || surveyWaits.value
  return (
    <View title={own.title} back step={isDone ? 'outcome' : place.value}>
      <Closed />
      {isDone ? (
        <Outcome own={own} />
      ) : (
        <>
          <Asking words={own} />
          {state === 'empty' ? <Notice kind="warning">{own.nothing}</Notice> : null}
          <NotDone error={typeof state === 'object' ? state : null} />
        </>
      )}
    </View>
  )
}

/** What became of the answers: they have arrived, or they wait and are sent by themselves. */
function Outcome({ own }: { readonly own: SurveyWords }) {
  const why = whyWaits()
  return surveyState.value === 'sent' ? (
    <Notice>{own.sent}</Notice>
  ) : (
    <Notice kind="warning" action={<Button onClick={changeAnswers}>{own.change}</Button>}>
      <strong>{own.waits}</strong>
      <br />
      {why}
    </Notice>
  )
}

function Asking({ words }: { readonly words: SurveyWords }) {
  const number = Math.min(place.value, QUESTIONS.length - 1)
  const isLast = number === QUESTIONS.length - 1
  return (
    <>
      {answeredElsewhere.value ? <Notice>{words.replaces}</Notice> : null}
      {number === 0 ? <p class="quiet">{words.intro}</p> : null}
      <Ask words={words} question={QUESTIONS[number]!} number={number} />
      {isLast ? <Open words={words} shown={QUESTIONS[number]!} /> : null}
      <div class="row ends">
        <Button disabled={number === 0} onClick={() => keep(place, number - 1)}>
          {words.before}
        </Button>
        {isLast ? (
          <Button kind="primary" busy={surveyState.value === 'sending'} onClick={() => void sendSurvey()}>
            {words.send}
          </Button>
        ) : (
          <Button kind="primary" onClick={() => keep(place, number + 1)}>
            {words.next}
          </Button>
        )}
      </div>
    </>
  )
}

/** How many other questions have no answer, before the answers are sent. */
function Open({ words, shown }: { readonly words: SurveyWords; readonly shown: Question }) {
  const open = QUESTIONS.filter((question) => question !== shown && answers.value[question] === undefined)
  if (open.length === 0) return null
  return (
    <Notice action={<Button onClick={() => keep(place, QUESTIONS.indexOf(open[0]!))}>{words.toOpen}</Button>}>
      {words.open(open.length)}
    </Notice>
  )
}

function Ask(props: { readonly words: SurveyWords; readonly question: Question; readonly number: number }) {
  const { words, question, number } = props
  const { ask, answers: choices } = words.questions[question]
  const touch = (value: string) => answer(question, value)
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
        <label class="question" for={question}>
          {legend}
        </label>
        <textarea
          id={question}
          rows={5}
          maxLength={2_000}
          value={(answers.value[question] as string | undefined) ?? ''}
          onInput={({ currentTarget }) => touch(currentTarget.value)}
        />
      </div>
    )
  const several = SEVERAL.has(question)
  return (
    <fieldset class="answers" key={question}>
      <legend>{legend}</legend>
      {several ? <p class="quiet">{words.several}</p> : null}
      {Object.entries<string>(choices).map(([value, text]) => (
        <label key={value} class="check">
          <input
            type={several ? 'checkbox' : 'radio'}
            name={question}
            checked={isChosen(answers.value, question, value)}
            onClick={() => touch(value)}
          />
          {text}
        </label>
      ))}
    </fieldset>
  )
}

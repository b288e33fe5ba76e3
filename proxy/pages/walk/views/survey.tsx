/** The survey, one question at a time. Each answer is stored on the device at once. */
import { surveyWords, words } from '../words.ts'
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
  isChosen,
  place,
  isFormMissing,
  type Question,
  questionsOf,
  readForm,
  sendSurvey,
  surveyState,
  surveyWaits,
} from '../feedback/survey.ts'
import { keep } from '../session/stored-signals.ts'
import { Closed } from './feedback-tab.tsx'
import { Again, NotDone, Notice, NotLoaded } from './notice.tsx'
import { View } from './view.tsx'

/** Texts in the language chosen last; `missing`: they could not be loaded. */
const survey = signal<SurveyWords | 'missing' | null>(null)

async function loadWords(chosen: Language): Promise<void> {
  try {
    survey.value = (await surveyWords(chosen)).words
  } catch {
    survey.value ??= 'missing'
  }
}

export function Survey() {
  const chosen = language.value
  useEffect(() => {
    if (surveyState.value !== 'sending') surveyState.value = 'open'
    void loadWords(chosen)
    void readForm()
  }, [chosen])
  const own = survey.value
  if (own === null || own === 'missing' || isFormMissing.value)
    return (
      <View title={words.value.say.survey} back>
        {own === null ? null : own === 'missing' ? (
          <NotLoaded />
        ) : (
          <Notice kind="warning" action={<Again ask={readForm}>{words.value.retry}</Again>}>
            {words.value.problems.notDone.offline}
          </Notice>
        )}
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

/** State of the answers: arrived, or queued and sent automatically. */
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
  const questions = questionsOf(words)
  const number = Math.min(place.value, questions.length - 1)
  const isLast = number === questions.length - 1
  return (
    <>
      {answeredElsewhere.value ? <Notice>{words.replaces}</Notice> : null}
      {number === 0 ? <p class="quiet">{words.intro(questions.length)}</p> : null}
      <Ask words={words} question={questions[number]!} number={number} of={questions.length} />
      {isLast ? <Open words={words} questions={questions} /> : null}
      <div class="row ends">
        <Button disabled={number === 0} onClick={() => keep(place, number - 1)}>
          {words.before}
        </Button>
        {isLast ? (
          <Button
            kind="primary"
            busy={surveyState.value === 'sending'}
            onClick={() => void sendSurvey(questions)}
          >
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

interface OpenProps {
  readonly words: SurveyWords
  readonly questions: readonly Question[]
}

/** Number of unanswered questions before the last, shown before sending. */
function Open({ words, questions }: OpenProps) {
  const open = questions.slice(0, -1).filter(({ name }) => answers.value[name] === undefined)
  if (open.length === 0) return null
  return (
    <Notice action={<Button onClick={() => keep(place, questions.indexOf(open[0]!))}>{words.toOpen}</Button>}>
      {words.open(open.length)}
    </Notice>
  )
}

interface AskProps {
  readonly words: SurveyWords
  readonly question: Question
  readonly number: number
  readonly of: number
}

function Ask({ words, question, number, of }: AskProps) {
  const { name, kind, ask, choices } = question
  const touch = (value: string) => answer(question, value)
  const legend = (
    <>
      <span class="quiet">{words.progress(number + 1, of)}</span>
      <br />
      <strong>{ask}</strong>
    </>
  )
  const given = answers.value[name]
  const field = {
    id: name,
    value: Array.isArray(given) ? '' : String(given ?? ''),
    onInput: (event: InputEvent) => touch((event.currentTarget as HTMLInputElement).value),
  }
  if (kind === 'text' || kind === 'number')
    return (
      <div class="field">
        <label class="question" for={name}>
          {legend}
        </label>
        {kind === 'text' ? (
          <textarea rows={5} maxLength={2_000} {...field} />
        ) : (
          <input type="number" inputMode="decimal" step="any" {...field} />
        )}
      </div>
    )
  const several = kind === 'several'
  return (
    <fieldset class="answers" key={name}>
      <legend>{legend}</legend>
      {several ? <p class="quiet">{words.several}</p> : null}
      {choices.map(([value, text]) => (
        <label key={value} class="check">
          <input
            type={several ? 'checkbox' : 'radio'}
            name={name}
            checked={isChosen(answers.value, question, value)}
            onClick={() => touch(value)}
          />
          {text}
        </label>
      ))}
    </fieldset>
  )
}

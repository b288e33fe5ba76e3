/** The questions of the survey: how each is answered, and its texts in each language. */
import type { Language } from '#shared/contracts/bot.ts'
import { Meanwhile, PartForm, type PartProps, useEditing } from './part-form.tsx'
import { withoutEmpty } from './without-empty.ts'
import type { EventSettings } from '../../event.ts'
import { Choice, Field } from '../../parts/fields.tsx'
import { PanelFrom } from '../../parts/panel.tsx'
import type { Resource } from '../../resource.ts'
import { client } from '../../session.ts'
import { consoleLanguage, ownName, pair, words } from '../../words.ts'
import { Button } from '../../../design/button.tsx'

const MAX_QUESTIONS = 10
const MAX_CHOICES = 20

export const SurveyPanel = ({ from }: { readonly from: Resource<EventSettings> }) => (
  <PanelFrom title={words.value.survey.title} kind="event-survey" from={from}>
    {(settings) => <SurveyForm from={from} settings={settings} />}
  </PanelFrom>
)

type Survey = EventSettings['survey']['value']
type Question = Survey['questions'][number]

const KINDS = ['choice', 'several', 'number', 'text'] as const
const NEW: Question = { kind: 'choice', ask: {}, choices: [] }

const hasChoices = ({ kind }: Pick<Question, 'kind'>): boolean => kind === 'choice' || kind === 'several'

/** The question as sent: without blank texts, and without choices if its kind has none. */
const trimmed = ({ kind, ask, choices }: Question): Question => ({
  kind,
  ask: withoutEmpty(ask),
  choices: hasChoices({ kind })
    ? choices.map(({ value, names }) => ({ value, names: withoutEmpty(names) }))
    : [],
})

function SurveyForm(props: PartProps) {
  const { settings } = props
  const messages = words.value.survey
  const { language: own, languages } = settings.languages.value
  const offered = [...new Set<Language>([own, ...languages, 'en'])]
  const { value, change, overtaken, form } = useEditing<Survey>(props, 'survey', {
    stored: settings.survey.value,
    save: ({ questions }, version) => client.setEventSurvey({ questions: questions.map(trimmed), version }),
  })
  const { questions } = value
  const replace = (at: number, ...by: readonly Question[]) =>
    change({ questions: questions.toSpliced(at, 1, ...by) })
  return (
    <PartForm
      title={messages.title}
      part={settings.survey}
      form={form}
      class="words-form"
      aside={
        overtaken === null ? null : (
          <Meanwhile text={messages.questions(settings.survey.value.questions.length)} />
        )
      }
    >
      <p class="small">{messages.note}</p>
      {questions.map((question, i) => (
        <details key={i} class="survey-question">
          <summary>
            <strong>{`Q${i + 1}`}</strong> {titleOf(question, own)}{' '}
            <span class="small quiet">{messages.kinds[question.kind]}</span>
          </summary>
          <QuestionFields question={question} languages={offered} onChange={(next) => replace(i, next)} />
          {/* Only the last question can be removed: the numbers of the others identify their answers. */}
          {i > 0 && i === questions.length - 1 ? (
            <Button onClick={() => replace(i)}>{messages.removeQuestion}</Button>
          ) : null}
        </details>
      ))}
      {questions.length >= MAX_QUESTIONS ? null : (
        <div class="row">
          <Button onClick={() => replace(questions.length, NEW)}>{messages.addQuestion}</Button>
        </div>
      )}
    </PartForm>
  )
}

const titleOf = ({ ask }: Question, own: Language): string =>
  ask[consoleLanguage.value] ?? ask[own] ?? Object.values(ask)[0] ?? ''

interface QuestionProps {
  readonly question: Question
  readonly languages: readonly Language[]
  readonly onChange: (question: Question) => void
}

function QuestionFields({ question, languages, onChange }: QuestionProps) {
  const messages = words.value.survey
  const { kind, ask, choices } = question
  const changeChoice = (at: number, ...by: Question['choices']) =>
    onChange({ ...question, choices: choices.toSpliced(at, 1, ...by) })
  return (
    <div class="stack">
      <Choice
        label={messages.kind}
        value={kind}
        options={KINDS.map((option) => [option, messages.kinds[option]])}
        onChoose={(chosen) => onChange({ ...question, kind: chosen })}
      />
      <div class="event-form">
        {languages.map((language) => (
          <Field
            key={language}
            name={`ask-${language}`}
            label={pair(messages.question, ownName(language))}
            maxLength={200}
            value={ask[language] ?? ''}
            onType={(text) => onChange({ ...question, ask: { ...ask, [language]: text } })}
          />
        ))}
      </div>
      {hasChoices(question) ? (
        <>
          <ol class="field-rows">
            {choices.map((choice, i) => (
              <li key={choice.value}>
                {languages.map((language) => (
                  <Field
                    key={language}
                    name={`choice-${language}`}
                    label={ownName(language)}
                    maxLength={100}
                    value={choice.names[language] ?? ''}
                    onType={(text) =>
                      changeChoice(i, { ...choice, names: { ...choice.names, [language]: text } })
                    }
                  />
                ))}
                <Button onClick={() => changeChoice(i)}>{words.value.route.remove}</Button>
              </li>
            ))}
          </ol>
          {choices.length >= MAX_CHOICES ? null : (
            <div class="row">
              <Button onClick={() => changeChoice(choices.length, { value: newValue(), names: {} })}>
                {messages.addChoice}
              </Button>
            </div>
          )}
        </>
      ) : null}
    </div>
  )
}

/** A value that no other choice has ever had, so that answers to earlier versions keep their meaning. */
const newValue = (): string => crypto.randomUUID().slice(0, 8)

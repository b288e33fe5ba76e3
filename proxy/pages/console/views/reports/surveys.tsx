/** Surveys: each question as bars, text answers as a list, and everything as CSV. */
import { figure } from '#shared/locales/units.ts'
import type { Data } from '#shared/client/index.ts'
import { type Bar, Bars } from '../../../design/chart.tsx'
import { date } from '../../clock.ts'
import { warn } from '../../parts/actions.tsx'
import type { Cell } from '../../parts/csv.ts'
import { saveBlob, saveCsv } from '../../parts/download.ts'
import { PagedList } from '../../parts/paged-list.tsx'
import { sentenceOf } from '../../parts/panel.tsx'
import { useExports } from './exports.tsx'
import { client } from '../../session.ts'
import { pair, words, consoleLanguage } from '../../words.ts'
import { type Question, fitQuestions } from './fit-questions.ts'
import { nameIn } from '#shared/core/rules/languages.ts'
import { event } from '../../event.ts'

type Page = Data<'listSurveys'>

const EVERY_MS = 60_000
const QUERY = { limit: 20 }
const BARS = 8
/** Steps of the longest usual scale, 0 to 10. */
const SCALE_BARS = 11
/** A question with a larger share of distinct answers is answered in free text. */
const FREE_SHARE = 0.5
const MOST_TEXT = 200

async function saveAll(): Promise<void> {
  const answer = await client.download('listSurveys', {}, { accept: 'text/csv', timeoutMs: 120_000 })
  if (answer.ok) saveBlob(answer.data.blob, answer.data.filename ?? 'surveys.csv')
  else warn(answer.error, sentenceOf)
}

export function Surveys() {
  const messages = words.value.reports
  return (
    <PagedList
      title={messages.panels.surveys}
      kind="surveys"
      query={QUERY}
      read={client.listSurveys}
      everyMs={EVERY_MS}
      totalOf={({ total }) => total}
    >
      {(page) => (
        <>
          <Files page={page} />
          <p class="answered quiet">{pair(messages.panels.surveys, figure(page.total))}</p>
          <Questions questions={shownOf(page)} total={page.total} />
          <PrintedSurveys questions={shownOf(page)} />
          <Texts page={page} />
        </>
      )}
    </PagedList>
  )
}

function Files({ page }: { readonly page: Page }) {
  const messages = words.value.reports
  useExports('surveys', saveAll, messages.answersPrivate)
  useExports('surveys', () => saveCodes(page), messages.answersKey)
  return null
}

/** `q2` before `q10`. */
const byQuestion = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true })

type Names = Parameters<typeof nameIn>[0]
/** The text in the operator's language. */
const inWords = (names: Names): string =>
  nameIn(names, consoleLanguage.value, event.value?.language ?? consoleLanguage.value)

const knownOf = ({ questions }: Page, question: string): Page['questions'][string] | undefined =>
  Object.hasOwn(questions, question) ? questions[question] : undefined

function askOf(page: Page, question: string): string | null {
  const known = knownOf(page, question)
  return known === undefined ? null : inWords(known.ask)
}

/** An answer in the words of its survey; the sent value if no version of the survey has it. */
function answerOf(page: Page, question: string, sent: string): string {
  const choice = knownOf(page, question)?.choices.find(({ value }) => value === sent)
  return choice === undefined ? sent : inWords(choice.names)
}

const isFree = (counts: Readonly<Record<string, number>>, answered: number): boolean =>
  Object.keys(counts).length > BARS && Object.keys(counts).length > answered * FREE_SHARE

const questionsOf = ({ responses, counts }: Page): readonly string[] =>
  Object.keys(responses)
    .sort(byQuestion)
    .filter((question) => !isFree(counts[question] ?? {}, responses[question] ?? 0))

/** Whether the values are numbers. */
function isScale(page: Page, question: string): boolean {
  const known = knownOf(page, question)
  if (known === undefined) return false
  const { kind, choices } = known
  return kind === 'number' || (choices.length > 0 && choices.every(({ value }) => /^\d+$/.test(value)))
}

/** The steps of a scale from the highest; otherwise the most frequent answers first. */
const barsOf = (page: Page, question: string): readonly Bar[] =>
  Object.entries(page.counts[question] ?? {})
    .sort(([sentA, a], [sentB, b]) => (isScale(page, question) && Number(sentB) - Number(sentA)) || b - a)
    .slice(0, isScale(page, question) ? SCALE_BARS : BARS)
    .map(([answer, count]) => ({
      name: answerOf(page, question, answer),
      value: count,
      shown: figure(count),
    }))

const shownOf = (page: Page): readonly Question[] =>
  questionsOf(page).map((name) => {
    const bars = barsOf(page, name)
    return {
      name,
      ask: askOf(page, name),
      bars,
      answered: page.responses[name] ?? 0,
      others: Object.keys(page.counts[name] ?? {}).length - bars.length,
    }
  })

interface QuestionsProps {
  readonly questions: readonly Question[]
  /** Number of people who answered the survey. */
  readonly total: number
}

const Questions = ({ questions, total }: QuestionsProps) => (
  <div class="questions">
    {questions.map(({ name, ask, bars, answered, others }) => (
      <section key={name} aria-label={name}>
        <h3>
          {name.toUpperCase()}{' '}
          {answered === total ? null : (
            <span class="quiet small">{words.value.reports.answers(answered)}</span>
          )}
        </h3>
        {ask === null ? null : <p>{ask}</p>}
        <Bars bars={bars} />
        <Others count={others} />
      </section>
    ))}
  </div>
)

/** Answers without a bar. */
const Others = ({ count }: { readonly count: number }) =>
  count === 0 ? null : (
    <p class="quiet small">
      +{count} {words.value.reports.more}
    </p>
  )

const textOf = (page: Page, question: string, answer: Page['items'][number]['answers'][string]): string =>
  (Array.isArray(answer) ? answer : [answer])
    .map((answer) => answerOf(page, question, String(answer)))
    .join(', ')
    .slice(0, MOST_TEXT)

const Texts = ({ page }: { readonly page: Page }) => (
  <details class="texts">
    <summary>{words.value.reports.texts}</summary>
    <ul class="rows">
      {page.items.map(({ userId, display_name, submitted_at, answers }) => (
        <li key={userId}>
          <div class="grow">
            <p class="small quiet">
              {display_name ?? userId} · {date(submitted_at)}
            </p>
            {Object.entries(answers)
              .sort(([a], [b]) => byQuestion(a, b))
              .map(([question, answer]) => (
                <p key={question} class="small">
                  <strong>{question}</strong> {textOf(page, question, answer)}
                </p>
              ))}
          </div>
        </li>
      ))}
    </ul>
  </details>
)

/** Explains the values in the CSV of answers, which contains them as sent. */
export const codeRows = (page: Page): Cell[][] => [
  ['question', 'text', 'answer', 'meaning'],
  ...Object.entries(page.questions).flatMap(([question, { ask, choices }]) =>
    choices.length === 0
      ? [[question, inWords(ask), '', '']]
      : choices.map(({ value, names }) => [question, inWords(ask), value, inWords(names)]),
  ),
]

const saveCodes = (page: Page): void => saveCsv(codeRows(page), 'survey-codes.csv')

/**
 * Room for the surveys on the report's page, in columns and lines. The style sheet sets the line height
 * (`--printed-line`).
 */
const COLUMNS = 3
const LINES = 23

/** The surveys on paper: each text takes one line, so that the report fits a page whatever was answered. */
function PrintedSurveys({ questions }: { readonly questions: readonly Question[] }) {
  const messages = words.value.reports
  const { columns, left } = fitQuestions(questions, COLUMNS, LINES)
  return (
    <div class="printed-surveys" aria-hidden="true">
      {columns.map((column, i) => (
        <div key={i}>
          {column.map(({ name, ask, bars, answered, others }) => (
            <section key={name}>
              <h3>
                <span>{[name.toUpperCase(), ask].filter(Boolean).join(' ')}</span>
                <span class="quiet">{messages.answers(answered)}</span>
              </h3>
              <Bars bars={bars} />
              <Others count={others} />
            </section>
          ))}
        </div>
      ))}
      {left === 0 ? null : (
        <p class="more-questions">
          +{left} {messages.more}
        </p>
      )}
    </div>
  )
}

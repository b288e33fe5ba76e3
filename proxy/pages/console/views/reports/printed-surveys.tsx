import { Bars } from '../../../design/chart.tsx'
import { number } from '../../clock.ts'
import { fill, words } from '../../words.ts'
import { fitQuestions, type Question } from './fit-questions.ts'

/** Room of the surveys on the report's page. A line is as high as the style sheet says (`--printed-line`). */
const COLUMNS = 3
const LINES = 23

/** The surveys on paper: each text has one line, so that the report has one page whatever was answered. */
export function PrintedSurveys({ questions }: { readonly questions: readonly Question[] }) {
  const said = words.value.reports
  const { columns, left } = fitQuestions(questions, COLUMNS, LINES)
  return (
    <div class="printed-surveys" aria-hidden="true">
      {columns.map((column, i) => (
        <div key={i}>
          {column.map(({ name, ask, bars, answered, others }) => (
            <section key={name}>
              <h3>
                <span>{[name.toUpperCase(), ask].filter(Boolean).join(' ')}</span>
                <span class="quiet">{fill(said.answers, { count: number(answered) })}</span>
              </h3>
              <Bars bars={bars} />
              {others === 0 ? null : <p class="quiet">{fill(said.moreAnswers, { count: number(others) })}</p>}
            </section>
          ))}
        </div>
      ))}
      {left === 0 ? null : <p class="more-questions">{fill(said.moreQuestions, { count: number(left) })}</p>}
    </div>
  )
}

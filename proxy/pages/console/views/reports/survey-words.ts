/** What the survey asks, and what each answer means, in the console's language. */
import { survey as english } from '#shared/locales/en/survey.ts'
import { survey as traditional } from '#shared/locales/zh-hant/survey.ts'
import { saveCsv } from '../../parts/download.ts'
import { consoleLanguage } from '../../words.ts'

interface Known {
  readonly ask: string
  /** The words of each answer, by the value that is sent; a question in free words has none. */
  readonly answers: Readonly<Record<string, string>>
}

const knownQuestions = (): Readonly<Record<string, Known>> =>
  (consoleLanguage.value === 'en' ? english : traditional).questions

/** Null for a question that this release does not know: a survey of another one may have other questions. */
export function knownOf(question: string): Known | null {
  const questions = knownQuestions()
  return Object.hasOwn(questions, question) ? questions[question]! : null
}

/** The CSV of the answers has them as they were sent. This one says what each of them means. */
export const saveCodes = (): void =>
  saveCsv(
    [
      ['question', 'text', 'answer', 'meaning'],
      ...Object.entries(knownQuestions()).flatMap(([question, { ask, answers }]) => {
        const known = Object.entries(answers)
        return known.length === 0
          ? [[question, ask, '', '']]
          : known.map(([sent, meaning]) => [question, ask, sent, meaning])
      }),
    ],
    'survey-codes.csv',
  )

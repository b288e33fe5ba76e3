/** The survey's ten questions until the owner sets others, and the template of those. */
import type { BuiltInLanguage, Language } from '#shared/contracts/bot.ts'
import type { SurveyPart } from '#shared/contracts/event-settings.ts'
import { DEFAULT_KINDS } from '#shared/core/rules/survey-kinds.ts'
import { words as en } from './en/survey.ts'
import { words as ja } from './ja/survey.ts'
import type { SurveyWords } from './words.ts'
import { words as hans } from './zh-hans/survey.ts'
import { words as hant } from './zh-hant/survey.ts'

type Known = keyof SurveyWords['questions']

const WORDS: Readonly<Record<BuiltInLanguage, SurveyWords>> = { 'zh-Hant': hant, 'zh-Hans': hans, ja, en }

/** A text of each language. */
const inAll = (textOf: (words: SurveyWords) => string): Record<Language, string> =>
  Object.fromEntries(Object.entries(WORDS).map(([language, words]) => [language, textOf(words)]))

const answersOf = ({ questions }: SurveyWords, question: Known): Readonly<Record<string, string>> =>
  questions[question].answers

export const DEFAULT_SURVEY: SurveyPart = {
  questions: (Object.keys(en.questions) as Known[]).map((question) => ({
    kind: DEFAULT_KINDS[question],
    ask: inAll(({ questions }) => questions[question].ask),
    choices: Object.keys(answersOf(en, question)).map((value) => ({
      value,
      names: inAll((words) => answersOf(words, question)[value]!),
    })),
  })),
}

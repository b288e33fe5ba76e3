/** Words of the pilgrims' app. English is the pattern that every language follows; a figure in a sentence is a parameter. */
import type { walk } from './en/walk.ts'
import type { own } from './en/walk-own.ts'
import type { survey } from './en/survey.ts'

type InAnyLanguage<T> = T extends string
  ? string
  : T extends (...given: infer Given) => string
    ? (...given: Given) => string
    : T extends readonly (infer Item)[]
      ? readonly InAnyLanguage<Item>[]
      : { readonly [Name in keyof T]: InAnyLanguage<T[Name]> }

export type WalkWords = InAnyLanguage<typeof walk>
export type OwnWords = InAnyLanguage<typeof own>
export type SurveyWords = InAnyLanguage<typeof survey>

/**
 * Words of pages, bot and links. English is the pattern that every language follows; a figure in a sentence is a
 * parameter.
 */
import type { bot } from './en/bot.ts'
import type { words as console } from './en/console.ts'
import type { words as map } from './en/map.ts'
import type { words as notFound } from './en/not-found.ts'
import type { words as page } from './en/all-pages.ts'
import type { words as places } from './en/places.ts'
import type { words as poster } from './en/poster.ts'
import type { words as recordedFile } from './en/recorded-file.ts'
import type { share } from './en/share.ts'
import type { words as survey } from './en/survey.ts'
import type { words as walk } from './en/walk.ts'

/** Widens texts to `string`. A union of literals, such as language tags, stays as it is. */
type InAnyLanguage<T> = T extends string
  ? string extends T
    ? string
    : T
  : T extends (...given: infer Given) => string
    ? (...given: Given) => string
    : T extends readonly (infer Item)[]
      ? readonly InAnyLanguage<Item>[]
      : { readonly [Name in keyof T]: InAnyLanguage<T[Name]> }

export type BotWords = InAnyLanguage<typeof bot>
export type ConsoleWords = InAnyLanguage<typeof console>
export type MapWords = InAnyLanguage<typeof map>
export type NotFoundWords = InAnyLanguage<typeof notFound>
export type PageWords = InAnyLanguage<typeof page>
export type PlacesWords = InAnyLanguage<typeof places>
export type PosterWords = InAnyLanguage<typeof poster>
export type RecordedFileWords = InAnyLanguage<typeof recordedFile>
export type ShareWords = InAnyLanguage<typeof share>
export type SurveyWords = InAnyLanguage<typeof survey>
export type WalkWords = InAnyLanguage<typeof walk>

/**
 * The table that an organiser translates: a row for each sentence of the pages and the bot. Rows, placeholders and
 * English texts are read from the English words by calling them, so the table cannot differ from what is shown.
 */
import type { BuiltInLanguage } from '#shared/contracts/bot.ts'
import { words as page } from '../en/all-pages.ts'
import { bot } from '../en/bot.ts'
import { levels } from '../en/levels.ts'
import { words as map } from '../en/map.ts'
import { words as notFound } from '../en/not-found.ts'
import { words as places } from '../en/places.ts'
import { words as poster } from '../en/poster.ts'
import { words as recordedFile } from '../en/recorded-file.ts'
import { share } from '../en/share.ts'
import { words as survey } from '../en/survey.ts'
import { words as walk } from '../en/walk.ts'
import { figure } from '../units.ts'
import { partsOfKey, pathOf, type Texts, type Translation } from './translated-words.ts'

/** By the names of the files of words. Operators read the console in English. */
const ENGLISH: Readonly<Record<string, unknown>> = {
  'all-pages': page,
  walk,
  map,
  places,
  survey,
  'recorded-file': recordedFile,
  share,
  bot,
  levels,
  poster,
  'not-found': notFound,
}

export interface Row {
  readonly key: string
  readonly english: string
  /** What the text must contain, such as `{km}`. */
  readonly placeholders: readonly string[]
  /** Further placeholders that it may contain. */
  readonly optional: readonly string[]
  /** Maximum length in UTF-16 units. */
  readonly max: number
}

/** The language itself, which is not translated. */
const NO_WORDS = ['bot.language', 'share.language']

/** Labels of buttons in messages, beside those of `bot.labels`. LINE refuses a message with a longer one. */
const LABELS = ['bot.open', 'bot.emergency.organisers', 'bot.sos.call', 'bot.sos.map', 'bot.sos.console']

const maxOf = (key: string, english: string): number =>
  key.startsWith('bot.labels.') || LABELS.includes(key)
    ? 20
    : key === 'bot.chatBar'
      ? 14
      : english.length * 2 + 40

type Sentence = (...values: readonly unknown[]) => string

/** A value that stands for any number, and that no sentence contains by itself. */
const anyNumber = (at: number): number => 70_001 + 13 * at
const ANY_NUMBER = /\b70,?0\d\d\b/g

const MISSING = null

/** A parameter of a sentence, as calls show it. */
interface Parameter {
  readonly name: string
  readonly at: number
  /** Written with `figure`. */
  readonly isFigure: boolean
  /** Values for which the sentence is another one. */
  readonly special: readonly unknown[]
}

/** Names of the parameters in the source, which the service runs as it is written. */
const namesOf = (sentence: Sentence): string[] =>
  /^\(?([^()=]*)\)?\s*=>/
    .exec(String(sentence))![1]!
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')

/** The template of a sentence for these values: `{name}` in place of each that stands for any. */
const templateOf = (sentence: Sentence, names: readonly string[], values: readonly unknown[]): string =>
  sentence(...values).replaceAll(ANY_NUMBER, (written) => {
    const at = (Number(written.replace(',', '')) - anyNumber(0)) / (anyNumber(1) - anyNumber(0))
    return `{${names[at]!}}`
  })

/** All combinations of a value of each list. */
const combined = <T>(lists: readonly (readonly T[])[]): T[][] =>
  lists.reduce<T[][]>((all, list) => all.flatMap((values) => list.map((value) => [...values, value])), [[]])

const known = new WeakMap<Sentence, readonly Parameter[]>()

/** Reads what a sentence depends on, from what it returns for zero, one, nothing, true and any other number. */
const parametersOf = (sentence: Sentence, names = namesOf(sentence)): readonly Parameter[] =>
  known.getOrInsertComputed(sentence, () => readParameters(sentence, names))

function readParameters(sentence: Sentence, names: readonly string[]): readonly Parameter[] {
  const any = names.map((_, at) => anyNumber(at))
  const text = sentence(...any)
  return names.map((name, at) => {
    const isFigure = text.includes(figure(anyNumber(at)))
    if (!isFigure && !text.includes(String(anyNumber(at)))) {
      const given = (flag: boolean) => sentence(...any.map((value, i) => (i === at ? flag : value)))
      const isFlag = given(true) !== given(false)
      return { name, at, isFigure, special: isFlag ? [true, false] : [] }
    }
    const others = [
      any,
      ...[0, 1].flatMap((value) => any.map((_, i) => any.with(i, i === at ? any[i]! : value))),
    ]
    const isSpecial = (value: unknown, values: readonly unknown[]): boolean => {
      const written = isFigure ? figure(Number(value)) : String(value)
      const general = templateOf(sentence, names, values).replaceAll(`{${name}}`, written)
      return templateOf(sentence, names, values.with(at, value)) !== general
    }
    const numbers = [0, 1].filter((value) => others.some((values) => isSpecial(value, values)))
    return {
      name,
      at,
      isFigure,
      special: !isFigure && isSpecial(MISSING, any) ? [MISSING, ...numbers] : numbers,
    }
  })
}

/** Forms of the plural of a language beyond the one of exactly 1: `other` needs no condition. */
function pluralForms(language: string): string[] {
  const rules = new Intl.PluralRules(language)
  const many = Array.from({ length: 200 }, (_, i) => rules.select(i + 2))
  return [...new Set(many)].filter((form) => form !== 'other')
}

function rowsOfSentence(path: string, sentence: Sentence, forms: readonly string[]): Row[] {
  const english = sentenceAt(path)
  const names = namesOf(typeof english === 'function' ? (english as Sentence) : sentence)
  const parameters = parametersOf(sentence, names)
  const values = parameters.map(({ special, at }) =>
    special[0] === true ? special : [anyNumber(at), ...special],
  )
  return combined<unknown>(values).flatMap((combination) => {
    // A combination that never occurs leaves a gap in the sentence.
    if (/^ | {2}| $/.test(templateOf(sentence, names, combination))) return []
    const optional = names.filter(
      (_, at) => combination[at] !== MISSING && typeof combination[at] !== 'boolean',
    )
    // A number of exactly 1 also has the forms of the plural, for languages that have more.
    const conditions = parameters
      .filter(({ special, at }) => special.includes(combination[at]))
      .map(({ name, at }) =>
        [combination[at], ...(combination[at] === 1 ? forms : [])].map((value) => ({
          name,
          at,
          value,
        })),
      )
    return combined<{ name: string; at: number; value: unknown }>(conditions).map((chosen) => {
      const key = chosen.map(({ name, value }) => `${name}=${String(value)}`).join(',')
      const shown = chosen.reduce(
        (all, { at, value }) => (typeof value === 'string' ? all.with(at, anyNumber(at)) : all),
        combination,
      )
      const text = templateOf(sentence, names, shown)
      return {
        key: key === '' ? path : `${path}[${key}]`,
        english: text,
        placeholders: names.filter((name) => text.includes(`{${name}}`)),
        optional,
        max: maxOf(path, text),
      }
    })
  })
}

/** @param forms of the plural, which are rows of their own */
function rowsIn(words: unknown, path: string, forms: readonly string[]): Row[] {
  if (NO_WORDS.includes(path) || (path !== '' && pathOf(path) !== path)) return []
  if (words === '') return []
  if (typeof words === 'string')
    return [{ key: path, english: words, placeholders: [], optional: [], max: maxOf(path, words) }]
  if (typeof words === 'function') return rowsOfSentence(path, words as Sentence, forms)
  return Object.entries(words as object).flatMap(([name, part]) =>
    rowsIn(part, path === '' ? name : `${path}.${name}`, forms),
  )
}

/** By the forms of the plural. */
const rowsByForms = new Map<string, readonly Row[]>()

/** The rows of a language. Its forms of the plural are rows of their own. @param language BCP 47 tag */
export function rowsOf(language: string): readonly Row[] {
  const forms = pluralForms(language)
  return rowsByForms.getOrInsertComputed(forms.join(), () => rowsIn(ENGLISH, '', forms))
}

/** The texts of a built-in language by the keys of the table. */
export async function builtInTexts(language: BuiltInLanguage): Promise<Texts> {
  const files = Object.keys(ENGLISH).map(async (file) => {
    const words = (await import(`../${language.toLowerCase()}/${file}.ts`)) as Record<string, unknown>
    return rowsIn(Object.hasOwn(words, file) ? words[file] : words['words'], file, [])
  })
  return Object.fromEntries((await Promise.all(files)).flat().map(({ key, english }) => [key, english]))
}

export type Fault =
  | 'unknown-key'
  | 'placeholder-lost'
  | 'placeholder-unknown'
  | 'too-long'
  | 'markup'
  | 'character'

export interface TextFault {
  readonly key: string
  readonly fault: Fault
  /** The placeholder, the maximum length, or the character, such as `U+202E`. */
  readonly detail: string
}

/** Controls, breaks of lines, overrides of the direction, and lone surrogates, which no store can hold. */
const NOT_SHOWN = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** The first character that a text cannot have. A break of lines is good where the English text has one. */
function badCharacter(text: string, english: string): string | undefined {
  const bad = [...text.matchAll(NOT_SHOWN)].find(([found]) => found !== '\n' || !english.includes(found))
  return bad && `U+${bad[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
}

function faultOf({ placeholders, optional, max, english }: Row, text: string): Omit<TextFault, 'key'> | null {
  const found = [...text.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name!)
  const lost = placeholders.find((name) => !found.includes(name))
  if (lost !== undefined) return { fault: 'placeholder-lost', detail: `{${lost}}` }
  const unknown = found.find((name) => !optional.includes(name))
  if (unknown !== undefined) return { fault: 'placeholder-unknown', detail: `{${unknown}}` }
  if (text.length > max) return { fault: 'too-long', detail: String(max) }
  const character = badCharacter(text, english)
  if (character !== undefined) return { fault: 'character', detail: character }
  return text.includes('<') ? { fault: 'markup', detail: '<' } : null
}

/** Separates the texts that can be shown from the others. Empty ones are neither. */
export function checkTexts(
  language: string,
  given: Texts,
): { texts: Record<string, string>; faults: TextFault[] } {
  const rows = new Map(rowsOf(language).map((row) => [row.key, row]))
  const texts = new Map<string, string>()
  const faults: TextFault[] = []
  for (const [key, written] of Object.entries(given)) {
    const text = written.trim()
    if (text === '') continue
    const row = rows.get(key)
    const fault = row === undefined ? { fault: 'unknown-key' as const, detail: '' } : faultOf(row, text)
    if (fault === null) texts.set(key, text)
    else faults.push({ key, ...fault })
  }
  return { texts: Object.fromEntries(texts), faults }
}

function sentenceAt(path: string): unknown {
  const [file = '', ...names] = path.split('.')
  return names.reduce<unknown>(
    (words, name) =>
      Object.hasOwn(Object(words) as object, name) ? Reflect.get(words as object, name) : undefined,
    ENGLISH[file],
  )
}

/** Values with a sentence of their own, which no form of the plural is. */
const EXACT = new Set(['null', 'true', 'false', '0', '1'])

/**
 * Adds the English texts of exact values that are not translated: what is said of other values can be false for them.
 * Of one, it is good enough if the English text also only counts.
 */
function withEnglish(language: string, texts: Texts): Record<string, string> {
  const translated = Map.groupBy(Object.keys(texts).map(partsOfKey), ({ path }) => path)
  const conditionsOf = (key: ReturnType<typeof partsOfKey>) => key.conditions.map((one) => one.join('='))
  const added = rowsOf(language).filter(({ key, english }) => {
    const row = partsOfKey(key)
    const others = translated.get(row.path)
    if (others === undefined || Object.hasOwn(texts, key)) return false
    if (row.conditions.length === 0 || row.conditions.some(([, value]) => !EXACT.has(value))) return false
    const wanted = conditionsOf(row)
    const needed = wanted.filter((one) => !one.endsWith('=1'))
    const isReplaced = others
      .map(conditionsOf)
      .some(
        (given) => given.every((one) => wanted.includes(one)) && needed.every((one) => given.includes(one)),
      )
    return !(isReplaced && /\b1\b/.test(english))
  })
  return { ...texts, ...Object.fromEntries(added.map(({ key, english }) => [key, english])) }
}

/** A translation, as pages and services read it. A text that does not fit this release is left out. */
export function translationOf(language: string, given: Texts): Translation {
  const texts = withEnglish(language, checkTexts(language, given).texts)
  const parameters = new Map<string, string[]>()
  for (const key of Object.keys(texts)) {
    const { path } = partsOfKey(key)
    const words = sentenceAt(path)
    if (typeof words !== 'function' || parameters.has(path)) continue
    const names = parametersOf(words as Sentence).map(({ name, isFigure }) => (isFigure ? `#${name}` : name))
    parameters.set(path, names)
  }
  return { language, texts, parameters: Object.fromEntries(parameters) }
}

/**
 * The words of a further language, made from the English ones and an organiser's translation. What is not translated
 * stays English. Pages load this file for readers of such a language alone.
 */
import { figure } from '../units.ts'

/**
 * A translation by key. The key of a sentence is its path among the English words, such as `walk.welcome.title`. One
 * that depends on a value adds it: `walk.checkIn.total[checkIns=1]`. `{checkIns}` in a text stands for that value.
 */
export type Texts = Readonly<Record<string, string>>

export interface Translation {
  /** BCP 47 tag. */
  readonly language: string
  readonly texts: Record<string, string>
  /** Names of the parameters of each sentence that has some; `#` before a name: a number, written with `figure`. */
  readonly parameters: Record<string, string[]>
}

/** Words that several files of words contain, by the path at which they are translated. */
const SHARED: ReadonlyMap<string, string> = new Map([
  ['walk.levels', 'levels'],
  ['walk.places', 'places'],
  ['bot.levels', 'levels'],
])

export const pathOf = (path: string): string => SHARED.get(path) ?? path

/** Translated sentences with conditions, by path. */
type Variants = ReadonlyMap<string, readonly Variant[]>

interface Variant {
  readonly conditions: readonly (readonly [parameter: string, value: string])[]
  readonly text: string
}

/** The conditions of a key and its path. */
export function partsOfKey(key: string): { path: string; conditions: Variant['conditions'] } {
  const [path, inBrackets] = key.split(/[[\]]/)
  const conditions = (inBrackets?.split(',') ?? []).map((part) => part.split('=') as [string, string])
  return { path: path!, conditions }
}

function variantsOf(texts: Texts): Variants {
  const variants = new Map<string, Variant[]>()
  for (const [key, text] of Object.entries(texts)) {
    const { path, conditions } = partsOfKey(key)
    variants.set(path, [...(variants.get(path) ?? []), { conditions, text }])
  }
  return variants
}

/** How closely a value meets a condition: an exact one more than a form of the plural; 0: not. */
function closeness(wanted: string, value: unknown, rules: Intl.PluralRules): number {
  if (wanted === String(value)) return 2
  return typeof value === 'number' && wanted === rules.select(value) ? 1 : 0
}

type Sentence = (...values: readonly unknown[]) => string

/** A sentence in the variant that fits the values best. Where none fits, it is the English one. */
function sentence(
  english: Sentence,
  variants: readonly Variant[],
  parameters: readonly string[],
  rules: Intl.PluralRules,
): Sentence {
  const names = parameters.map((name) => name.replace('#', ''))
  return (...values) => {
    let [best, bestScore] = [null as string | null, -1]
    for (const { conditions, text } of variants) {
      const scores = conditions.map(([name, wanted]) => closeness(wanted, values[names.indexOf(name)], rules))
      const score = scores.includes(0) ? -1 : scores.reduce((sum, one) => sum + one, 0)
      if (score > bestScore) [best, bestScore] = [text, score]
    }
    if (best === null) return english(...values)
    return best.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => {
      const at = names.indexOf(name)
      if (at < 0) return placeholder
      return parameters.at(at)!.startsWith('#') ? figure(values[at] as number) : String(values[at])
    })
  }
}

/**
 * @param path of these words among all, such as `walk`
 * @param english the words of a file, or a part of them
 * @returns the same in the further language
 */
export function translatedWords<W>(path: string, english: W, translation: Translation): W {
  const { language, parameters, texts } = translation
  const [variants, rules] = [variantsOf(texts), new Intl.PluralRules(language)]
  const translated = (given: string, part: unknown): unknown => {
    const at = pathOf(given)
    if (typeof part === 'string') return Object.hasOwn(texts, at) ? texts[at] : part
    if (typeof part === 'function')
      // A page of another release may have a sentence with other values. It stays English.
      return variants.has(at) && part.length === (parameters[at] ?? []).length
        ? sentence(part as Sentence, variants.get(at)!, parameters[at]!, rules)
        : part
    if (Array.isArray(part)) return part.map((one, i) => translated(`${at}.${i}`, one))
    return Object.fromEntries(
      Object.entries(part as object).map(([name, one]) => [name, translated(`${at}.${name}`, one)]),
    )
  }
  return translated(path, english) as W
}

/** Chooses a reader's language from those of the service, and names in it. */
import type { Language } from '#shared/contracts/bot.ts'

const CHINESE_FORMS: readonly Language[] = ['zh-Hant', 'zh-Hans']

/** Chinese, and the languages that are written as it. */
const CHINESE = /^(zh|cmn|hak|nan|yue)$/

/** The language of a BCP 47 tag; undefined if the event has no texts in it. */
function knownLanguage(
  tag: string,
  eventLanguage: Language,
  offered: readonly Language[],
): Language | undefined {
  const [primary, ...rest] = tag.toLowerCase().split(/[-_]/)
  if (!CHINESE.test(primary!)) return ['en', ...offered].find((one) => one.split('-')[0] === primary)
  const names = (subtags: RegExp): boolean => rest.some((part) => subtags.test(part))
  // A script decides before a region.
  if (names(/^hans$/)) return 'zh-Hans'
  if (names(/^(hant|tw|hk|mo)$/)) return 'zh-Hant'
  return names(/^(cn|sg|my)$/) || eventLanguage === 'zh-Hans' ? 'zh-Hans' : 'zh-Hant'
}

/**
 * The language in which a reader gets every page and message: the first of their languages that is offered, English if
 * none is. Without any known language it is the event's own. Chinese that names neither script nor region is the
 * event's. If only the other Chinese is offered, that one is used.
 * @param tags the reader's languages as BCP 47 tags, most preferred first; null where one is not known
 * @param offered languages the event offers. English is always there
 */
export function languageFor(
  tags: readonly (string | null)[],
  eventLanguage: Language,
  offered: readonly Language[],
): Language {
  // The wildcard of a header and "und" (undetermined) name no language.
  const known = tags.map((tag) => (tag ?? '').trim()).filter((tag) => !/^(und|\*)?$/.test(tag))
  for (const tag of known) {
    const language = knownLanguage(tag, eventLanguage, offered)
    const choices = CHINESE_FORMS.includes(language!) ? [language!, ...CHINESE_FORMS] : [language!]
    const found = choices.find((choice) => choice === 'en' || offered.includes(choice))
    if (found !== undefined) return found
  }
  return known.length === 0 ? eventLanguage : 'en'
}

/** Names of a thing by language; some may be missing. */
type Names = Partial<Readonly<Record<Language, string | undefined>>>

/**
 * A name for a reader: in their language, else in the other Chinese for readers of Chinese, else in the event's own
 * language, else in English, else in any.
 * @param names at least one
 */
export const nameIn = (names: Names, reader: Language, eventLanguage: Language): string =>
  names[reader] ??
  (reader.startsWith('zh') ? (names['zh-Hant'] ?? names['zh-Hans']) : undefined) ??
  names[eventLanguage] ??
  names.en ??
  Object.values(names).find((name) => name !== undefined)!

/** A text for a reader: in their language, else in the other Chinese for readers of Chinese, in English for others. */
export const textFor = (texts: Names, reader: Language): string | undefined =>
  texts[reader] ?? (reader.startsWith('zh') ? (texts['zh-Hant'] ?? texts['zh-Hans']) : texts.en)

/** The tags of an Accept-Language header, most preferred first, without those of quality 0. */
export function acceptedTags(header: string | null): string[] {
  const preferences = (header ?? '').split(',').map((part) => {
    const [tag, ...parameters] = part.split(';')
    const quality = parameters.map((parameter) => /^\s*q=([\d.]+)\s*$/i.exec(parameter)?.[1]).find(Boolean)
    return { tag: tag!.trim(), quality: Number(quality ?? 1) }
  })
  return (
    preferences
      .filter(({ tag, quality }) => tag !== '' && quality > 0)
      // Tags of equal quality keep their order: the sort is stable.
      .sort((a, b) => b.quality - a.quality)
      .map(({ tag }) => tag)
  )
}

/** The name of a county or a town. */
export interface PlaceName {
  readonly zh: string
  /** The name in simplified characters. */
  readonly hans: string
  readonly en: string
}

/** A name in a reader's language: Japanese uses the traditional characters, as Taiwan does. */
export const placeName = (language: Language, { zh, hans, en }: PlaceName): string =>
  language === 'zh-Hans' ? hans : /^(zh|ja)/.test(language) ? zh : en

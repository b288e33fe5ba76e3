/** Maps language tags to the service's languages, and chooses names in them. */
import type { Language } from '#shared/contracts/bot.ts'

/** Subtags of Chinese that mean simplified characters. */
const SIMPLIFIED = ['hans', 'cn', 'sg', 'my']

/** The language of a BCP 47 tag; null if the service has no texts in it. */
export function supportedLanguage(tag: string): Language | null {
  const [primary, ...rest] = tag.trim().toLowerCase().split(/[-_]/)
  if (primary === 'en' || primary === 'ja') return primary
  if (primary !== 'zh') return null
  return rest.some((part) => SIMPLIFIED.includes(part)) && !rest.includes('hant') ? 'zh-Hans' : 'zh-Hant'
}

/** The preferred language of an Accept-Language header among the service's languages; null if it names none of them. */
export function acceptedLanguage(header: string | null): Language | null {
  const preferences = (header ?? '').split(',').map((part) => {
    const [tag, ...parameters] = part.split(';')
    const quality = parameters.map((one) => /^\s*q=([\d.]+)\s*$/i.exec(one)?.[1]).find(Boolean)
    return { language: supportedLanguage(tag!), quality: Number(quality ?? 1) }
  })
  // Of equal qualities the first one: the sort is stable.
  const [best] = preferences
    .filter(({ language, quality }) => language !== null && quality > 0)
    .sort((a, b) => b.quality - a.quality)
  return best?.language ?? null
}

/** The name of a county or a town. */
export interface PlaceName {
  readonly zh: string
  /** The name in simplified characters. */
  readonly hans: string
  readonly en: string
}

/** A name as readers of a language know it: Japanese writes Taiwan's names as Taiwan does. */
export const placeName = (language: Language, { zh, hans, en }: PlaceName): string =>
  language === 'en' ? en : language === 'zh-Hans' ? hans : zh

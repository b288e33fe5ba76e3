/** Which of the service's languages a person reads. */
import type { Language } from '#shared/contracts/bot.ts'

/** Simplified characters are read there. */
const SIMPLIFIED = ['hans', 'cn', 'sg', 'my']

/** The language of a BCP 47 tag; null for one that the service does not speak. */
export function spokenLanguage(tag: string): Language | null {
  const [primary, ...rest] = tag.trim().toLowerCase().split(/[-_]/)
  if (primary === 'en' || primary === 'ja') return primary
  if (primary !== 'zh') return null
  return rest.some((part) => SIMPLIFIED.includes(part)) && !rest.includes('hant') ? 'zh-Hans' : 'zh-Hant'
}

/** What an Accept-Language header asks for, of the languages that the service speaks; null for none of them. */
export function acceptedLanguage(header: string | null): Language | null {
  const asked = (header ?? '').split(',').map((part) => {
    const [tag, ...parameters] = part.split(';')
    const quality = parameters.map((one) => /^\s*q=([\d.]+)\s*$/i.exec(one)?.[1]).find(Boolean)
    return { language: spokenLanguage(tag!), quality: Number(quality ?? 1) }
  })
  // Of equals the first: sorting keeps their order.
  const [best] = asked
    .filter(({ language, quality }) => language !== null && quality > 0)
    .sort((a, b) => b.quality - a.quality)
  return best?.language ?? null
}

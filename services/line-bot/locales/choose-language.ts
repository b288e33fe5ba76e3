/** Which of the bot's languages a person reads. */
import type { Language } from '#shared/contracts/bot.ts'

/** Of a BCP 47 tag as LINE gives it; Traditional Chinese to everyone whose language the bot does not speak. */
export function languageOf(tag: string | null): Language {
  const [primary, ...rest] = (tag ?? '').toLowerCase().split(/[-_]/)
  if (primary === 'en' || primary === 'ja') return primary
  if (
    primary === 'zh' &&
    rest.some((part) => ['hans', 'cn', 'sg', 'my'].includes(part)) &&
    !rest.includes('hant')
  )
    return 'zh-Hans'
  return 'zh-Hant'
}

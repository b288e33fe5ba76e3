/** Which of the bot's languages a person reads. */
import type { Language } from '#shared/contracts/bot.ts'
import { spokenLanguage } from '#shared/rules/languages.ts'

/** Of a BCP 47 tag as LINE gives it; Traditional Chinese to everyone whose language the bot does not speak. */
export const languageOf = (tag: string | null): Language => spokenLanguage(tag ?? '') ?? 'zh-Hant'

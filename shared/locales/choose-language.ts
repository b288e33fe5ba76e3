/** Chooses the bot's language for a person. */
import type { Language } from '#shared/contracts/bot.ts'
import { supportedLanguage } from '#shared/core/rules/languages.ts'

/** @param tag a BCP 47 tag from LINE. Other languages than the bot's get Traditional Chinese */
export const languageOf = (tag: string | null): Language => supportedLanguage(tag ?? '') ?? 'zh-Hant'

/** The texts of the page of a link (`/s/<id>`), by language. */
import type { Language } from '#shared/contracts/bot.ts'
import { SHARE as EN } from './en/share.ts'
import { SHARE as JA } from './ja/share.ts'
import { SHARE as ZH_HANS } from './zh-hans/share.ts'
import { SHARE as ZH_HANT } from './zh-hant/share.ts'
import type { ShareWords } from './share-texts.ts'

export const SHARE_WORDS: Readonly<Record<Language, ShareWords>> = {
  'zh-Hant': ZH_HANT,
  'zh-Hans': ZH_HANS,
  en: EN,
  ja: JA,
}

/** Words of a language that is not built in, which the owner has had translated. */
import type { Language } from '#shared/contracts/bot.ts'
import type { EventParts, TranslationSet, TranslationTable } from '#shared/contracts/event-settings.ts'
import { isBuiltIn } from '#shared/locales/by-language.ts'
import { builtInTexts, checkTexts, rowsOf } from '#shared/locales/further/translation-table.ts'
import { invalid } from '#shared/runtime/refusal.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import type { Acting } from '#shared/service/security/audit-log.ts'
import { changePart } from './set-event.ts'

/** More languages would make the settings too large to follow. */
const MAX_TRANSLATIONS = 4

/** Primary languages with built-in words. */
const BUILT_IN = /^(en|ja|zh|cmn|hak|nan|yue)(-|$)/

/** Tags of no language: several, not known, not coded, no words. */
const NO_LANGUAGE = /^(mul|und|mis|zxx)(-|$)/

/** Scripts that are written from right to left. */
const RIGHT_TO_LEFT = ['Adlm', 'Arab', 'Hebr', 'Mand', 'Nkoo', 'Rohg', 'Samr', 'Syrc', 'Thaa']

/** A language of such a script whose script `Intl` does not know. */
const DARI = /^prs(-|$)/

/** A tag as browsers send it: the one of two letters where there are others (ISO 639-2). */
function commonTag(language: Language): Language {
  const canonical = new Intl.Locale(language)
  return canonical.toString().replace(canonical.language, canonical.maximize().language)
}

/** @throws Refusal 400 for a tag that cannot have a translation */
export function checkLanguage(language: Language): void {
  const known = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })
  if (NO_LANGUAGE.test(language) || known.of(language) === undefined)
    throw invalid(`language: no language has the tag ${language}`)
  const common = commonTag(language)
  if (BUILT_IN.test(language) || BUILT_IN.test(common))
    throw invalid(`language: ${language} is built in. Translate another language`)
  const { script } = new Intl.Locale(common).maximize()
  if (DARI.test(language) || RIGHT_TO_LEFT.includes(script ?? ''))
    throw invalid(`language: the pages cannot be written from right to left, as ${language} is`)
  if (common !== language)
    throw invalid(`language: browsers send ${common} in place of ${language}. Use that`)
}

/** @throws Refusal 400 for a tag that cannot have a translation */
export async function showTable({ event }: ServiceContext, language: Language): Promise<TranslationTable> {
  checkLanguage(language)
  const { language: own, translations } = event.current
  const [inOwn, translated] = [await ownTexts(own, translations), translations[language] ?? {}]
  const rows = rowsOf(language).map(({ key, english, placeholders, max }) => ({
    key,
    english,
    own: inOwn[key] ?? null,
    text: translated[key] ?? null,
    placeholders: [...placeholders],
    max,
  }))
  return { language, rows }
}

const ownTexts = async (
  own: Language,
  translations: EventParts['languages']['translations'],
): Promise<Readonly<Record<string, string>>> =>
  own === 'en' ? {} : isBuiltIn(own) ? builtInTexts(own) : (translations[own] ?? {})

/**
 * Stores a translation and offers its language; one without texts is removed with its language. Texts that cannot be
 * shown are left out and returned.
 * @throws as `setPart`; Refusal 400 for a tag that cannot have a translation, or without a single valid text
 */
export async function setTranslation(
  context: ServiceContext,
  operator: Acting,
  given: {
    readonly language: Language
    readonly texts: Readonly<Record<string, string>>
    readonly version: number
  },
): Promise<TranslationSet> {
  const { language, version } = given
  checkLanguage(language)
  const { texts, faults } = checkTexts(language, given.texts)
  const isRemoved = Object.keys(texts).length === 0
  if (isRemoved && faults.length > 0)
    throw invalid(
      `texts: none of the ${faults.length} can be used. Send the table of this release, with its keys`,
    )
  const settings = await changePart(context, operator, 'languages', {
    version,
    changed: (before) => withTranslation(before, language, isRemoved ? null : texts),
  })
  return { ...settings, left_out: faults }
}

function withTranslation(
  { translations: before, ...part }: EventParts['languages'],
  language: Language,
  texts: Readonly<Record<string, string>> | null,
): EventParts['languages'] {
  const { [language]: _, ...others } = before
  const languages = part.languages.filter((one) => one !== language)
  if (texts === null) {
    if (part.language === language)
      throw invalid(`language: ${language} is the event’s own language. Choose another one first`)
    return { ...part, languages, translations: others }
  }
  const related = Object.keys(others).find((one) => one.split('-')[0] === language.split('-')[0])
  if (related !== undefined)
    throw invalid(`language: there is a translation as ${related}. Replace that one, or remove it first`)
  if (Object.keys(others).length >= MAX_TRANSLATIONS)
    throw invalid(`language: there are ${MAX_TRANSLATIONS} translations. Remove one first`)
  return { ...part, languages: [...languages, language], translations: { ...others, [language]: texts } }
}

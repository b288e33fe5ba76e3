/** The settings that an app needs at its start. It is answered even when all stores are unavailable. */
import type { ServiceContext } from '#shared/service/context.ts'
import type { Language } from '#shared/contracts/bot.ts'
import type { EventConfig, EventNotice, SurveyForm, TranslatedWords } from '#shared/contracts/event-config.ts'
import type { EventParts } from '#shared/contracts/event-settings.ts'
import { time, timeOrNull } from '#shared/contracts/fields.ts'
import type { VersionedStatus } from '#shared/stores/kv/kv.ts'
import { readMessages, readStatus } from '#shared/pilgrims/activity-status.ts'
import { routeVersion } from '#shared/pilgrims/event-route.ts'
import type { Event } from '#shared/pilgrims/event-settings.ts'
import { translationOf } from '#shared/locales/further/translation-table.ts'
import { notFound } from '#shared/runtime/refusal.ts'
import { Prepared } from '#shared/service/http/prepared-response.ts'
import { within } from '#shared/runtime/deadline.ts'

/** Version of the fixed part of the notice at `/walk/`. A new text gets a new version, and pilgrims are asked again. */
const PRIVACY_VERSION = '2026-2'

const DAY_MS = 86_400_000

/**
 * Version of the whole notice: the app's sentences, the organisers' part, and what the public map can show, because the
 * notice says if it can show a single pilgrim.
 */
function privacyVersion({ config, event }: ServiceContext): string {
  const { notice } = event.current.versions
  const version = notice === undefined ? PRIVACY_VERSION : `${PRIVACY_VERSION}.${notice}`
  return config.mapCrowd > 1 ? version : `${version}-single`
}

/** Keys of the texts that a translation of the notice has. */
const NOTICE = /^walk\.(publicMap|welcome\.(consent|kept|organiser|contact))\b/

/** The words of a page that have the version of a translated notice. */
const EDITION = 'walk.welcome.edition'

type Translated = EventParts['languages']['translations'][Language]

/** By the texts of a translation. */
const editions = new WeakMap<Translated, string>()

/** Version of the notice in a translation; empty: the notice is in English. */
const editionOf = (language: Language, texts: Translated): string =>
  editions.getOrInsertComputed(texts, () => {
    const notice = Object.entries(texts).filter(([key]) => NOTICE.test(key))
    if (notice.length === 0) return ''
    return `.${language}-${Bun.hash(JSON.stringify(notice.toSorted(([a], [b]) => (a < b ? -1 : 1)))).toString(36)}`
  })

/** Versions of the notices in translations, each with a text of its own. */
const offeredEditions = ({ languages, translations }: Event): string[] =>
  languages
    .filter((language) => Object.hasOwn(translations, language))
    .map((language) => editionOf(language, translations[language]!))
    .filter((edition) => edition !== '')

export const showNotice = (context: ServiceContext): EventNotice => ({
  version: privacyVersion(context),
  texts: context.event.current.notice.texts,
})

/** Answers by the texts of a translation. */
const prepared = new WeakMap<object, Prepared>()

/** @throws Refusal 404 for a language that is built in, or not offered */
export function showWords({ event }: ServiceContext, request: Request, language: Language): Response {
  const { languages, translations } = event.current
  if (!languages.includes(language) || !Object.hasOwn(translations, language))
    throw notFound('No words in this language.')
  const texts = translations[language]!
  const answer = prepared.getOrInsertComputed(texts, () => {
    const { texts: shown, ...rest } = translationOf(language, texts)
    const edition = editionOf(language, texts)
    const data: TranslatedWords = {
      ...rest,
      texts: edition === '' ? shown : { ...shown, [EDITION]: edition },
    }
    return new Prepared(JSON.stringify({ ok: true, data }))
  })
  return answer.respond(request, 'no-cache')
}

const surveyVersion = ({ event }: ServiceContext): number => event.current.versions.survey ?? 0

export const showSurveyForm = (context: ServiceContext): SurveyForm => ({
  version: surveyVersion(context),
  ...context.event.current.survey,
})

export async function showConfig(context: ServiceContext): Promise<EventConfig> {
  const { config, event, now } = context
  const status = await statusWithin(context)
  const { texts, ...named } = event.current.notice
  return {
    name: event.current.name,
    names: event.current.names,
    language: event.current.language,
    languages: [...event.current.languages],
    settings_version: event.current.version,
    followed: event.current.followed,
    level_names: event.current.ownLevelNames,
    route: routeVersion(event.current),
    time_zone: config.timeZone,
    identity: config.identity,
    liff_id: config.line.liffId || null,
    privacy_version: privacyVersion(context),
    privacy_editions: offeredEditions(event.current),
    notice: { ...named, has_text: Object.keys(texts).length > 0 },
    survey_version: surveyVersion(context),
    crowd: config.mapCrowd,
    max_age_days: config.maxAgeMs / DAY_MS,
    rehearsal: event.current.isRehearsal,
    push_key: config.push?.publicKey ?? null,
    status: status?.status ?? null,
    message: status?.message ?? null,
    messages: status && (await readMessages(context.db, status)),
    emergency_number: event.current.emergencyNumber,
    organiser_phone: event.current.organiserPhone,
    starts_at: timeOrNull(event.current.startsMs),
    ends_at: timeOrNull(event.current.endsMs),
    as_of: time(now()),
  }
}

/** Timeout of each store. */
const TIMEOUT_MS = 2_000

/** Reads the status from the kv, or else from the database. Null when neither answers in time. */
async function statusWithin({ kv, db }: ServiceContext): Promise<VersionedStatus | null> {
  const orNull = (read: Promise<VersionedStatus | null>) =>
    within(
      read.catch(() => null),
      TIMEOUT_MS,
      () => null,
    )
  return (await orNull(kv.status())) ?? (await orNull(readStatus(db)))
}

/** The description of the event: the owner edits it in the console, part by part, and it applies without a restart. */
import { z } from 'zod'
import { byLanguage, Language } from './bot.ts'
import { endpointsOf } from './endpoint.ts'
import { exampleText, Instant, Place, text, Time, time, withoutDirections } from './fields.ts'

const endpoint = endpointsOf('admin')

/** Maximum length of the event's name. */
export const MAX_EVENT_NAME = 200

const Name = text(MAX_EVENT_NAME)
  .overwrite((name) => withoutDirections(name).trim())
  .min(1)

/** At least one name. Readers of another language get the name in the event's own language. */
export const EventNames = byLanguage(Name)
  .refine((names) => Object.keys(names).length > 0, { error: 'must have a name in one language' })
  .meta({ examples: [{ 'zh-Hant': '白沙屯媽祖進香', en: 'Baishatun Mazu Pilgrimage' }] })
export type EventNames = z.infer<typeof EventNames>

/** A phone number as people write it: digits with blanks, hyphens and parentheses between them. */
const telephone = (fewestDigits: number, error: string) =>
  z
    .string()
    .refine((number) => new RegExp(`^\\+?\\d{${fewestDigits},15}$`).test(number.replaceAll(/[ ()-]/g, '')), {
      error,
    })

/** Emergency numbers are short. */
export const EmergencyNumber = telephone(2, 'must be a telephone number of 2 to 15 digits')
export const OrganiserPhone = telephone(6, 'must be a telephone number of 6 to 15 digits')

export const NamePart = z.object({
  names: EventNames,
  starts_at: Time.nullable().describe('Begins scheduled messages; null: not known'),
  ends_at: Time.nullable(),
})

export const ContactPart = z.object({
  emergency_number: EmergencyNumber.nullable()
    .meta({ examples: ['119'] })
    .describe('The number to call in an emergency; null: none is shown'),
  organiser_phone: OrganiserPhone.nullable()
    .meta({ examples: ['04-2662 1234'] })
    .describe('Where the organisers answer the phone'),
})

/** A translation must fit into a request of 102,400 bytes, with the key of each text. */
const MAX_TRANSLATION_BYTES = 100_000
/** The table has fewer rows in any language. */
const MAX_GIVEN_TEXTS = 2_000
export const MAX_TRANSLATED_TEXT = 1_000

const utf8Length = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length

/** A text by the key of its row in the table of `readTranslationTable`. */
const textsByKey = <K extends z.ZodString, T extends z.ZodType<string>>(key: K, value: T) =>
  z
    .record(key, value)
    .refine((texts) => utf8Length(texts) <= MAX_TRANSLATION_BYTES, {
      error: `must have at most ${MAX_TRANSLATION_BYTES} bytes`,
    })
    .meta({
      examples: [{ 'walk.checkIn.button': 'Inchecken', 'walk.welcome.title': 'Welkom bij {event}' }],
    })

const TranslatedTexts = textsByKey(z.string().regex(/^[\w.,=[\]-]{1,100}$/), text(MAX_TRANSLATED_TEXT))

/** As a translator has written them: an invalid row does not lose the valid ones (`checkTexts`). */
const GivenTexts = textsByKey(z.string(), z.string()).refine(
  (texts) => Object.keys(texts).length <= MAX_GIVEN_TEXTS,
  { error: `must have at most ${MAX_GIVEN_TEXTS} texts` },
)

export const LanguagesPart = z.object({
  language: Language.describe('The event’s own, for readers whose language is not known'),
  languages: z
    .array(Language)
    .min(1)
    .meta({ examples: [['zh-Hant', 'en']] })
    .describe('Offered languages, with the own one. Readers of any other get English'),
  translations: byLanguage(TranslatedTexts)
    .default({})
    .describe('Texts of languages that are not built in; what is missing is English'),
})

/** Maximum of numbers in all lines together: a route of some hundred kilometres, to a few metres. */
const MAX_LINE_NUMBERS = 24_000
const MAX_LINES = 200
export const MAX_STATIONS = 200
export const MAX_PLACES = 200
const LATITUDE_E5 = 9_000_000
const LONGITUDE_E5 = 18_000_000

/** Whether a list is a line in transfer form whose places are all on Earth. */
function isLine(line: readonly number[]): boolean {
  const at = [0, 0]
  for (const [i, step] of line.entries()) {
    at[i % 2]! += step
    if (Math.abs(at[i % 2]!) > (i % 2 === 0 ? LATITUDE_E5 : LONGITUDE_E5)) return false
  }
  return line.length % 2 === 0
}

const Line = z.array(z.int()).min(4).refine(isLine, { error: 'must be pairs of numbers for places on Earth' })

export const SettingsStation = z.object({
  ...Place,
  names: byLanguage(text(100).min(1))
    .refine((names) => Object.keys(names).length > 0, { error: 'must have a name in one language' })
    .meta({ examples: [{ 'zh-Hant': '大甲鎮瀾宮', en: 'Dajia Jenn Lann Temple' }] }),
  km: z
    .number()
    .min(0)
    .nullable()
    .describe('Distance along the route, where it passes more than once; null: of the nearest passage'),
  planned_at: Time.nullable().describe('When the walk is to come here'),
})

/** What walkers look for between the stations. */
export const PlaceKind = z.enum(['water', 'toilet', 'first-aid', 'food', 'bed', 'shuttle'])
export type PlaceKind = z.infer<typeof PlaceKind>

export const SettingsPlace = z.object({
  ...Place,
  kind: PlaceKind,
  names: byLanguage(text(100).min(1))
    .meta({ examples: [{ 'zh-Hant': '南勢國小', en: 'Nanshi school' }] })
    .describe('Empty: its kind is name enough'),
  hours: text(60)
    .min(1)
    .nullable()
    .meta({ examples: ['06:00–22:00'] })
    .describe('When it is open, as the organisers write it; null: always, or not known'),
})
export type SettingsPlace = z.infer<typeof SettingsPlace>

const SettingsPlaces = z.array(SettingsPlace).max(MAX_PLACES)

export const RoutePart = z.object({
  lines: z
    .array(Line)
    .max(MAX_LINES)
    .refine((lines) => lines.reduce((sum, { length }) => sum + length, 0) <= MAX_LINE_NUMBERS, {
      error: `must have at most ${MAX_LINE_NUMBERS} numbers`,
    })
    .meta({ examples: [[[2_436_100, 12_063_400, 1_200, -300]]] })
    .describe(
      'In walking order. Each is a flat list: latitude and longitude of its first place in 1e-5 degrees, then the differences to each next place. Empty: the event has no route',
    ),
  stations: z.array(SettingsStation).max(MAX_STATIONS),
  places: SettingsPlaces.default([]).describe('Places along the way'),
  margin_km: z
    .number()
    .min(0.1)
    .max(500)
    .nullable()
    .meta({ examples: [5] })
    .describe(
      'The area: points farther from the route are stored and not counted. null: the area of the environment, or everywhere',
    ),
})
export type RoutePart = z.infer<typeof RoutePart>

export const Followed = z.enum(['procession', 'walk', 'relay'])
export type Followed = z.infer<typeof Followed>

const LEVELS = 9

/** Level 1 first. Empty: the level has its default name. */
export const LevelNames = z.array(byLanguage(text(60).min(1))).length(LEVELS)
export type LevelNames = z.infer<typeof LevelNames>

export const WordsPart = z.object({
  followed: Followed.describe(
    'What followers look for: a procession with a palanquin, a walk, which has no device that leads it, or a relay with a baton',
  ),
  level_names: LevelNames.meta({
    examples: [[{ 'zh-Hant': '初行者', en: 'Beginner' }, {}, {}, {}, {}, {}, {}, {}, {}]],
  }).describe('Names of the levels, level 1 first; where one has none, its default name'),
})

/** Maximum length of the organisers' own text in one language: all languages fit into a request. */
const MAX_NOTICE_TEXT = 6_000

export const NoticePart = z.object({
  organiser: text(200)
    .min(1)
    .nullable()
    .meta({ examples: ['財團法人白沙屯拱天宮'] })
    .describe('Who is responsible for the data'),
  contact: text(200)
    .min(1)
    .nullable()
    .meta({ examples: ['privacy@event.example'] })
    .describe('Where questions about the data are answered'),
  kept_until: Time.nullable().describe(
    'When the organisers will have deleted all personal data; null: the notice names no day',
  ),
  texts: byLanguage(text(MAX_NOTICE_TEXT).min(1))
    .meta({ examples: [{ 'zh-Hant': '我們依個人資料保護法第八條告知…' }] })
    .describe('The organisers’ own text, beside what the app says in any case'),
})
export type NoticePart = z.infer<typeof NoticePart>

const MAX_QUESTIONS = 10
const MAX_CHOICES = 20

const words = (max: number) =>
  byLanguage(text(max).min(1)).refine((texts) => Object.keys(texts).length > 0, {
    error: 'must have a text in one language',
  })

export const SurveyQuestion = z
  .object({
    kind: z.enum(['choice', 'several', 'number', 'text']).describe('How it is answered'),
    ask: words(200).meta({ examples: [{ 'zh-Hant': '您和誰一起走？', en: 'Who do you walk with?' }] }),
    choices: z
      .array(
        z.object({
          value: text(50)
            .min(1)
            .meta({ examples: ['family'] })
            .describe('What is sent and counted; it keeps its meaning in every version'),
          names: words(100).meta({ examples: [{ 'zh-Hant': '家人', en: 'Family' }] }),
        }),
      )
      .max(MAX_CHOICES),
  })
  .refine(({ kind, choices }) => (kind === 'choice' || kind === 'several' ? 1 : 0) <= choices.length, {
    path: ['choices'],
    error: 'must have a choice',
  })
  .refine(({ choices }) => new Set(choices.map(({ value }) => value)).size === choices.length, {
    path: ['choices'],
    error: 'must have different values',
  })
export type SurveyQuestion = z.infer<typeof SurveyQuestion>

export const SurveyPart = z.object({
  questions: z.array(SurveyQuestion).min(1).max(MAX_QUESTIONS).describe('Q1 first'),
})
export type SurveyPart = z.infer<typeof SurveyPart>

/** Texts with `{event}` where they name the event. */
const MAX_TEMPLATE = 300

const Template = byLanguage(text(MAX_TEMPLATE).min(1)).describe(
  'By language; another one gets its default text',
)

export const MessagesPart = z.object({
  welcome: Template.meta({
    examples: [{ en: 'Welcome to {event}! Check in from the menu below.' }],
  }).describe('The bot’s answer to a new follower'),
  share: Template.describe('What a pilgrim passes on with the link'),
  about: Template.describe('The bot’s answer to what this event is'),
  summaryTitle: Template.describe('Title of the summary at the end'),
})
export type MessagesPart = z.infer<typeof MessagesPart>

export const RehearsalPart = z.object({
  on: z.boolean().describe('Every page, card and message names the event as a rehearsal'),
  cleared_at: Time.nullable().describe('When a rehearsal was cleared last. Points from before are refused'),
})

/** Each part is stored, versioned and changed as a whole. */
export const EVENT_PARTS = {
  name: NamePart,
  contact: ContactPart,
  languages: LanguagesPart,
  route: RoutePart,
  words: WordsPart,
  notice: NoticePart,
  survey: SurveyPart,
  messages: MessagesPart,
  rehearsal: RehearsalPart,
} as const
export type EventPart = keyof typeof EVENT_PARTS
export type EventParts = { readonly [P in EventPart]: z.infer<(typeof EVENT_PARTS)[P]> }

const stored = <T extends z.ZodType>(value: T) =>
  z.object({
    value,
    version: z.int().describe('Version of the settings since which the part has this value; 0: never set'),
    changed_at: Time.nullable(),
    changed_by: z.string().nullable().describe('Name of the token; null: from the environment'),
  })

export const EventSettings = z.object({
  version: z.int().describe('Rises with each change of any part; 0: nothing was set'),
  name: stored(NamePart),
  contact: stored(ContactPart),
  languages: stored(LanguagesPart),
  route: stored(RoutePart).describe('Version 0: the route of the environment, simplified'),
  words: stored(WordsPart),
  notice: stored(NoticePart),
  survey: stored(SurveyPart).describe('Version 0: the ten default questions'),
  messages: stored(MessagesPart),
  rehearsal: stored(RehearsalPart),
})
export type EventSettings = z.infer<typeof EventSettings>

/** The version on which the change is based. */
const version = z
  .int()
  .min(0)
  .meta({ examples: [0] })
  .describe('`version` of the answer that the change was made from; 409 if the part has changed since')

const Sent = Instant.transform((ms) => time(ms))
  .nullable()
  .meta({ examples: ['2026-04-12T00:00:00+08:00'] })

export const SetNameRequest = NamePart.extend({ starts_at: Sent, ends_at: Sent, version })
export const SetContactRequest = ContactPart.extend({ version })
export const SetLanguagesRequest = LanguagesPart.omit({ translations: true }).extend({ version })
export const SetTranslationRequest = z.object({
  language: Language.meta({ examples: ['nl'] }),
  texts: GivenTexts.describe(
    'The whole translation: a text that is missing or empty is English. Empty: removes it',
  ),
  version,
})
export const SetWordsRequest = WordsPart.extend({ version })
export const SetSurveyRequest = SurveyPart.extend({ version })
export const SetMessagesRequest = MessagesPart.extend({ version })
export const SetRehearsalRequest = RehearsalPart.pick({ on: true }).extend({ version })
export const SetNoticeRequest = NoticePart.extend({ kept_until: Sent, version })
export const SetRouteRequest = RoutePart.extend({
  stations: z.array(SettingsStation.extend({ planned_at: Sent })).max(MAX_STATIONS),
  places: SettingsPlaces.optional().describe('Places along the way; absent: unchanged'),
  version,
})

export const eventSettingsEndpoint = endpoint('GET /api/event/admin/settings', {
  id: 'readEventSettings',
  summary: 'What describes the event, with who changed each part and when',
  access: 'owner',
  data: EventSettings,
})

export const setEventNameEndpoint = endpoint('PUT /api/event/admin/settings/name', {
  id: 'setEventName',
  summary: 'Sets the event’s name in each language, and its dates',
  access: 'owner',
  body: SetNameRequest,
  data: EventSettings,
  errors: ['conflict'],
})

export const setEventContactEndpoint = endpoint('PUT /api/event/admin/settings/contact', {
  id: 'setEventContact',
  summary: 'Sets the numbers that the app and the bot show to whoever needs help',
  access: 'owner',
  body: SetContactRequest,
  data: EventSettings,
  errors: ['conflict'],
})

export const setEventLanguagesEndpoint = endpoint('PUT /api/event/admin/settings/languages', {
  id: 'setEventLanguages',
  summary: 'Sets the event’s own language, and those that its pages and messages are offered in',
  access: 'owner',
  body: SetLanguagesRequest,
  data: EventSettings,
  errors: ['conflict'],
})

export const TranslationTable = z.object({
  language: Language,
  rows: z.array(
    z.object({
      key: exampleText('walk.checkIn.total[checkIns=1]'),
      english: exampleText('1 check-in'),
      own: exampleText('1 次打卡')
        .nullable()
        .describe('In the event’s own language; null: that is English, or has no such row'),
      text: exampleText('1 keer ingecheckt').nullable().describe('As translated; null: not yet'),
      placeholders: z
        .array(exampleText('checkIns'))
        .describe('Values that the text must contain, such as `checkIns` as {checkIns}'),
      max: z.int().describe('Maximum length of the text'),
    }),
  ),
})
export type TranslationTable = z.infer<typeof TranslationTable>

export const translationTableEndpoint = endpoint('GET /api/event/admin/settings/translations/:language', {
  id: 'readTranslationTable',
  summary: 'Every text of pages and bot in English, to be translated into a language that is not built in',
  access: 'owner',
  params: z.object({ language: Language.meta({ examples: ['nl'] }) }),
  data: TranslationTable,
})

/** Why a text is not used. */
export const TextFault = z.object({
  key: exampleText('walk.welcome.title'),
  fault: z.enum([
    'unknown-key',
    'placeholder-lost',
    'placeholder-unknown',
    'too-long',
    'markup',
    'character',
  ]),
  detail: exampleText('{event}').describe('The placeholder, the maximum length, or the character as U+202E'),
})
export type TextFault = z.infer<typeof TextFault>

export const TranslationSet = EventSettings.extend({
  left_out: z.array(TextFault).describe('Texts that are not stored; all others are'),
})
export type TranslationSet = z.infer<typeof TranslationSet>

export const setTranslationEndpoint = endpoint('PUT /api/event/admin/settings/translation', {
  id: 'setTranslation',
  summary: 'Sets the words of a language that is not built in, and offers it. An invalid text is left out',
  access: 'owner',
  body: SetTranslationRequest,
  data: TranslationSet,
  errors: ['conflict'],
})

export const setEventRouteEndpoint = endpoint('PUT /api/event/admin/settings/route', {
  id: 'setEventRoute',
  summary: 'Sets the route, its stations and the area. They apply at once to the map and to new points',
  access: 'owner',
  body: SetRouteRequest,
  data: EventSettings,
  errors: ['conflict'],
})

export const setEventWordsEndpoint = endpoint('PUT /api/event/admin/settings/words', {
  id: 'setEventWords',
  summary: 'Sets what is followed, and the names of the levels',
  access: 'owner',
  body: SetWordsRequest,
  data: EventSettings,
  errors: ['conflict'],
})

export const setEventNoticeEndpoint = endpoint('PUT /api/event/admin/settings/notice', {
  id: 'setEventNotice',
  summary: 'Sets the privacy notice. Each change is a new version, to which every pilgrim is asked to agree',
  access: 'owner',
  body: SetNoticeRequest,
  data: EventSettings,
  errors: ['conflict'],
})

export const setEventSurveyEndpoint = endpoint('PUT /api/event/admin/settings/survey', {
  id: 'setEventSurvey',
  summary: 'Sets the questions of the survey. Answers keep the version that they were given for',
  access: 'owner',
  body: SetSurveyRequest,
  data: EventSettings,
  errors: ['conflict'],
})

export const setEventMessagesEndpoint = endpoint('PUT /api/event/admin/settings/messages', {
  id: 'setEventMessages',
  summary: 'Sets the messages that name the event, which they do in place of {event}',
  access: 'owner',
  body: SetMessagesRequest,
  data: EventSettings,
  errors: ['conflict'],
})

export const setRehearsalEndpoint = endpoint('PUT /api/event/admin/settings/rehearsal', {
  id: 'setRehearsal',
  summary: 'Begins or ends a rehearsal: while it is on, the event’s name says so everywhere',
  access: 'owner',
  body: SetRehearsalRequest,
  data: EventSettings,
  errors: ['conflict'],
})

export const ResetRequest = z.object({
  name: text(MAX_EVENT_NAME)
    .meta({ examples: ['白沙屯媽祖進香'] })
    .describe('A name of the event, as the owner has typed it'),
})

export const resetRehearsalEndpoint = endpoint('POST /api/event/admin/reset', {
  id: 'resetRehearsal',
  summary:
    'Deletes the data of a rehearsal, as `bun run reset` does: the service stops, clears and starts again within a minute. Only while a rehearsal is on, before the event, where one process is the whole service',
  access: 'owner',
  body: ResetRequest,
  data: z.object({
    cleared_at: Time.nullable().describe(
      'When a rehearsal was cleared before; the settings have a later time once it is done',
    ),
  }),
  errors: ['conflict'],
})

/** What an app must know about the event before anyone has signed up. */
import { z } from 'zod'
import { Language } from './bot.ts'
import { endpointsOf } from './endpoint.ts'
import { EventNames, Followed, LevelNames, NoticePart, SurveyPart } from './event-settings.ts'
import { ActivityStatus, Time, exampleText } from './fields.ts'
import { ShownMessages } from './operations.ts'

const endpoint = endpointsOf('admin')

export const EventConfig = z.object({
  name: exampleText('白沙屯媽祖進香').describe('In the event’s own language; in a rehearsal it says so'),
  names: EventNames.describe('The name in each language that has one'),
  language: Language.describe('The event’s own language'),
  languages: z.array(Language).describe('Offered languages; readers of any other get English'),
  settings_version: z.int().describe('Version of the owner’s settings; 0: nothing was set'),
  followed: Followed.describe('What followers look for: a procession with a palanquin, a walk, a relay'),
  level_names: LevelNames.nullable().describe(
    'The event’s own names of the levels, level 1 first; null: all have their default names',
  ),
  route: z.string().nullable().describe('Version of GET /api/event/route; null: the event has no route'),
  time_zone: exampleText('Asia/Taipei').describe('IANA name; days of the API are days of this zone'),
  identity: z
    .enum(['open', 'line'])
    .describe('line: a pilgrim’s requests need the ID token of LINE Login; open: an id that the app keeps'),
  liff_id: z.string().nullable().describe('LIFF app of the event; null where none is set'),
  privacy_version: exampleText('2026-1').describe(
    'Version of the privacy notice that a pilgrim agrees to now; another one where the public map can show a single pilgrim',
  ),
  privacy_editions: z
    .array(exampleText('.nl-1k2m3n4'))
    .describe(
      'What follows privacy_version where a pilgrim agreed to a notice in an uploaded translation. Another such version is an older notice',
    ),
  notice: NoticePart.omit({ texts: true })
    .extend({ has_text: z.boolean().describe('The organisers’ own text is in GET /api/event/notice') })
    .describe('What the privacy notice names'),
  survey_version: z
    .int()
    .describe('Version of the survey in GET /api/event/survey-form; 0: the ten default questions'),
  crowd: z.int().describe('Fewest pilgrims at a place of the public map; 1: it can show a single one'),
  max_age_days: z.int().describe('Older points are refused'),
  push_key: z.string().nullable().describe('Public VAPID key for Web Push, base64url; null: Web Push is off'),
  rehearsal: z.boolean().describe('What is shown is not the event'),
  status: ActivityStatus.nullable().describe('null: not known at the moment'),
  message: z.string().nullable(),
  messages: ShownMessages,
  emergency_number: exampleText('119')
    .nullable()
    .describe('The number to call in an emergency; null where none is known'),
  organiser_phone: exampleText('04-2662 1234')
    .nullable()
    .describe('Where the organisers answer the phone; null where none is set'),
  starts_at: Time.nullable(),
  ends_at: Time.nullable(),
  as_of: Time.describe('Time of this answer; an app compares its own clock with it'),
})
export type EventConfig = z.infer<typeof EventConfig>

export const eventConfigEndpoint = endpoint('GET /api/event/config', {
  id: 'readEventConfig',
  summary:
    'What an app needs at its start: the event’s name, status and message, and how pilgrims are identified',
  data: EventConfig,
})

export const EventNotice = z.object({
  version: exampleText('2026-2').describe('`privacy_version` of GET /api/event/config'),
  texts: NoticePart.shape.texts,
})
export type EventNotice = z.infer<typeof EventNotice>

export const eventNoticeEndpoint = endpoint('GET /api/event/notice', {
  id: 'readEventNotice',
  summary: 'The organisers’ own text of the privacy notice',
  data: EventNotice,
})

export const TranslatedWords = z.object({
  language: Language,
  texts: z
    .record(z.string(), z.string())
    .meta({ examples: [{ 'walk.checkIn.button': 'Inchecken' }] })
    .describe('By key; what is missing is English'),
  parameters: z
    .record(z.string(), z.array(z.string()))
    .meta({ examples: [{ 'walk.checkIn.total': ['#checkIns'] }] })
    .describe('Names of the values of a text, in their order; with # those that are numbers to be formatted'),
})
export type TranslatedWords = z.infer<typeof TranslatedWords>

export const translatedWordsEndpoint = endpoint('GET /api/event/words/:language', {
  id: 'readTranslatedWords',
  summary: 'The words of an offered language that is not built in',
  params: z.object({ language: Language.meta({ examples: ['nl'] }) }),
  data: TranslatedWords,
  tagged: true,
  errors: ['not-found'],
})

export const SurveyForm = SurveyPart.extend({
  version: z.int().describe('`form_version` of a survey that answers these questions'),
})
export type SurveyForm = z.infer<typeof SurveyForm>

export const surveyFormEndpoint = endpoint('GET /api/event/survey-form', {
  id: 'readSurveyForm',
  summary: 'The questions of the survey',
  data: SurveyForm,
})

/** A pilgrim's profile, and their self-reports. */
import { z } from 'zod'
import { endpointsOf } from './endpoint.ts'
import {
  Day,
  normalizeMode,
  HttpsUrl,
  MAX_MODE,
  ParticipantStatus,
  text,
  Time,
  UserId,
  withoutDirections,
  FirstSeen,
  LastSeen,
  exampleText,
  exampleNumber,
  OfUser,
} from './fields.ts'

const endpoint = endpointsOf('survey-profile')

const OF_OTHERS =
  'only the day, in the event’s time zone, unless the caller is an operator or the pilgrim with a verified ID token'

/** The number of pending points: the same name and meaning in every answer that includes them. */
export const PendingPoints = z
  .int()
  .nullable()
  .describe(
    'Points in the buffer, which are included in this answer; null: the buffer is unavailable, and its points are missing',
  )

export const Profile = z.object({
  userId: UserId,
  display_name: exampleText('阿明').nullable(),
  picture_url: z.string().nullable(),
  level: z.int().min(1).max(9),
  level_name: z
    .object({ zh: z.string(), en: z.string() })
    .meta({ examples: [{ zh: '初行者', en: 'Beginner' }] }),
  icon: exampleText('🌱'),
  km: exampleNumber(12.34).describe(
    'Others get it rounded down while the event runs: whole kilometres below 10, whole fives above',
  ),
  checkins: z.int(),
  next_level: z
    .object({ level: z.int(), km_needed: z.number(), checkins_needed: z.int() })
    .nullable()
    .describe('What is still needed for the next level; null at level 9'),
  carbon_kg: exampleNumber(0).describe('Others get 0 while the event runs'),
  carbon_saved_kg: exampleNumber(1.27).describe(
    'Compared with the same distance by bus. While the event runs others get what walking their rounded kilometres saves, in whole kilograms: neither modes nor reports are in it',
  ),
  phone: exampleText('••••••••78')
    .nullable()
    .describe('Masked except for the last two digits; others get no digit'),
  survey_completed: z.literal([0, 1]),
  privacy_agreed: z.boolean(),
  privacy_agreed_at: Time.nullable(),
  privacy_version: z
    .string()
    .nullable()
    .describe('Version of the privacy notice that the last consent or its withdrawal named'),
  participant_status: ParticipantStatus,
  achievement_card: z.enum(['locked', 'unlocked']),
  photo_count: z.int(),
  palanquin: z
    .literal(true)
    .optional()
    .describe(
      'The pilgrim’s device is the palanquin: its app reports within ten minutes also at rest. Absent for all others, and without proof or an operator’s token',
    ),
  first_seen: z.union([FirstSeen, Day]).nullable().describe(`${FirstSeen.description!}; ${OF_OTHERS}`),
  last_seen: z.union([LastSeen, Day]).nullable().describe(`${LastSeen.description!}; ${OF_OTHERS}`),
  pending: z
    .null()
    .optional()
    .describe(
      'null: the buffer is unavailable, and its points are missing. Otherwise absent, because their number shows who is walking now',
    ),
})
export type Profile = z.infer<typeof Profile>

/** Text that replaces the stored one; an empty string leaves it unchanged. */
const replacement = (max: number) =>
  text(max)
    .nullish()
    .transform((value) => withoutDirections(value ?? '').trim() || null)

/** Existing clients also write zh_TW. */
function isLanguageTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag.replaceAll('_', '-')).length === 1
  } catch {
    return false
  }
}

const Count = z.int().min(0).max(5_000)

/** More than a body can travel during the event: bounds what one invented report adds to the event's totals. */
export const MAX_REPORTED_KM = 5_000

/** Maximum number of modes that a pilgrim may report, including those of earlier calls. */
export const MAX_MODES = 20

/** Normalizes the modes of self-reported kilometres. If two spellings become the same mode, the later one applies. */
export const normalizeModes = (transport: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(transport).map(([mode, km]) => [normalizeMode(mode), km]))

export const UserSyncRequest = z.object({
  user_id: UserId,
  display_name: replacement(200).meta({ examples: ['阿明'] }),
  picture_url: replacement(2_000).pipe(HttpsUrl.nullable()).describe('An https:// address'),
  language: replacement(35)
    .refine((tag) => tag === null || isLanguageTag(tag), {
      error: 'must be a BCP 47 language, such as zh-TW',
    })
    .describe('BCP 47, such as zh-TW'),
  consumption: z
    .object({ water: Count.nullish(), recycle: Count.nullish(), hotel: Count.nullish() })
    .nullish()
    .describe(
      'Numbers of water bottles, recycled bottles and hotel nights; each one replaces its stored value',
    ),
  transport: z
    .record(text(MAX_MODE), z.number().min(0).max(MAX_REPORTED_KM))
    .refine((given) => Object.keys(given).length <= MAX_MODES, {
      error: `must name at most ${MAX_MODES} modes`,
    })
    .refine((given) => Object.keys(given).every((mode) => normalizeMode(mode) !== ''), {
      error: 'has a mode without a name',
    })
    .refine((given) => new Set(Object.keys(given).map(normalizeMode)).size === Object.keys(given).length, {
      error: 'names a mode twice',
    })
    .transform(normalizeModes)
    .nullish()
    .describe(
      'Self-reported kilometres by mode; an unknown mode counts as bus. At most 5,000 a mode, with what earlier calls reported',
    )
    .meta({ examples: [{ train: 42.5 }] }),
})
export type UserSyncRequest = z.infer<typeof UserSyncRequest>

const PHONE_RULE = 'must have 6 to 15 digits; only + - ( ) and spaces are allowed beside them'

/** A phone number as the pilgrim writes it; null and an empty string clear it. */
export const Phone = z
  .string({ error: PHONE_RULE })
  .trim()
  .max(40)
  .refine(
    (phone) =>
      phone === '' || (/^[\d+\-() ]+$/.test(phone) && /^\d{6,15}$/.test(phone.replaceAll(/\D/g, ''))),
    { error: PHONE_RULE },
  )
  .nullable()
  .meta({ examples: ['0912 345 678'] })
  .transform((phone) => phone || null)

/** Existing clients send the field under another name. */
const renamed = <S extends z.ZodType>(from: string, to: string, schema: S) =>
  z.preprocess(
    (given) =>
      typeof given === 'object' && given !== null && from in given && !(to in given)
        ? Object.fromEntries(Object.entries(given).map(([name, value]) => [name === from ? to : name, value]))
        : given,
    schema,
  )

export const PhoneRequest = renamed('phone_number', 'phone', z.object({ user_id: UserId, phone: Phone }))
export type PhoneRequest = z.infer<typeof PhoneRequest>

export const ParticipantStatusRequest = renamed(
  'participant_status',
  'status',
  z.object({ user_id: UserId, status: ParticipantStatus }),
)
export type ParticipantStatusRequest = z.infer<typeof ParticipantStatusRequest>

export const ParticipantStatusAnswer = z.object({ userId: UserId, participant_status: ParticipantStatus })
export type ParticipantStatusAnswer = z.infer<typeof ParticipantStatusAnswer>

export const profileEndpoint = endpoint('GET /api/event/user/:userId', {
  id: 'readProfile',
  summary: 'Profile and statistics of a pilgrim, including pending points',
  access: 'optional',
  readsIdentity: true,
  limit: null,
  params: OfUser,
  data: Profile,
  fastData: (profile) => ({
    userId: profile.userId,
    display_name: profile.display_name,
    picture_url: profile.picture_url,
    level: profile.level,
    level_name: { zh: profile.level_name.zh, en: profile.level_name.en },
    icon: profile.icon,
    km: profile.km,
    checkins: profile.checkins,
    next_level: profile.next_level && {
      level: profile.next_level.level,
      km_needed: profile.next_level.km_needed,
      checkins_needed: profile.next_level.checkins_needed,
    },
    carbon_kg: profile.carbon_kg,
    carbon_saved_kg: profile.carbon_saved_kg,
    phone: profile.phone,
    survey_completed: profile.survey_completed,
    privacy_agreed: profile.privacy_agreed,
    privacy_agreed_at: profile.privacy_agreed_at,
    privacy_version: profile.privacy_version,
    participant_status: profile.participant_status,
    achievement_card: profile.achievement_card,
    photo_count: profile.photo_count,
    palanquin: profile.palanquin,
    first_seen: profile.first_seen,
    last_seen: profile.last_seen,
    pending: profile.pending,
  }),
  errors: ['not-found'],
})

export const userSyncEndpoint = endpoint('POST /api/event/user/sync', {
  id: 'syncProfile',
  summary: 'Updates profile data and self-reported figures; returns the whole profile',
  limit: 'user-write',
  caller: 'body',
  body: UserSyncRequest,
  data: Profile,
  // 404: the pilgrim is erased between the write and the answer; 410: before the write.
  errors: ['not-found', 'erased'],
})

export const phoneEndpoint = endpoint('POST /api/event/user/phone', {
  id: 'setPhone',
  summary: 'Sets or clears the phone number',
  limit: 'user-write',
  caller: 'body',
  body: PhoneRequest,
  data: z.object({ userId: UserId, phone: z.string().nullable() }),
  errors: ['erased'],
})

export const participantStatusEndpoint = endpoint('POST /api/event/participant-status', {
  id: 'setParticipantStatus',
  summary: 'Sets the participant status to active, completed or withdrawn; a pilgrim cannot leave completed',
  limit: 'user-write',
  caller: 'body',
  body: ParticipantStatusRequest,
  data: ParticipantStatusAnswer,
  errors: ['conflict', 'erased'],
})

export const PhotoCount = z.object({ userId: UserId, photo_count: z.int() })
export type PhotoCount = z.infer<typeof PhotoCount>

export const photoCountEndpoint = endpoint('GET /api/event/photos/count', {
  id: 'countPhotos',
  summary: 'Number of photos that a pilgrim has sent to the bot',
  caller: 'query',
  query: z.object({ user_id: UserId }),
  data: PhotoCount,
})

export const PrivacyRequest = z.object({
  user_id: UserId,
  agreed: z
    .boolean()
    .nullish()
    .meta({ examples: [true] })
    .transform((agreed) => agreed ?? true),
  version: text(100).nullish(),
})
export type PrivacyRequest = z.infer<typeof PrivacyRequest>

export const PrivacyAnswer = z.object({
  userId: UserId,
  privacy_agreed: z.boolean(),
  privacy_agreed_at: Time.nullable(),
  version: z.string().nullable(),
})
export type PrivacyAnswer = z.infer<typeof PrivacyAnswer>

export const privacyEndpoint = endpoint('POST /api/event/privacy', {
  id: 'setPrivacy',
  summary: 'Records privacy consent or its withdrawal',
  limit: 'user-write',
  caller: 'body',
  body: PrivacyRequest,
  data: PrivacyAnswer,
  errors: ['erased'],
})

/**
 * Fields that many contracts share: ids, positions, times, and text that every store can hold.
 */
import { z } from 'zod'

/** Text that Postgres, JSON and Redis can all hold: no NUL, no lone surrogate. */
export const isStorableText = (text: string): boolean => text.isWellFormed() && !text.includes('\u0000')

const NOT_STORABLE = 'must not contain a NUL character or a lone surrogate'

/**
 * Removes the characters that set or override the direction of a text: in a name they would reverse the words that
 * follow it. Names in right-to-left scripts do not need them.
 */
export const withoutDirections = (text: string): string => text.replace(/[\u202a-\u202e\u2066-\u2069]/g, '')

/** A string of at most `max` UTF-16 units that can be stored unchanged. */
export const text = (max: number) => z.string().max(max).refine(isStorableText, { error: NOT_STORABLE })

/** Maximum length of a property name in a stored object, such as a question or a mode. */
const MAX_KEY = 64

export const Key = text(MAX_KEY)

export const normalizeMode = (mode: string): string => mode.trim().toLowerCase()

/** Maximum lengths of a mode and of a point's source label. */
export const MAX_MODE = 32
export const MAX_SOURCE = 64

/** Truncates a text to `max` UTF-16 units, without splitting a surrogate pair. */
export const cutText = (given: string, max: number): string =>
  given.length <= max ? given : given.slice(0, max).replace(/[\ud800-\udbff]$/, '')

/** A mode of transport. Surrounding blanks and capitals are ignored; an empty mode becomes null. */
export const Mode = z
  .string()
  .overwrite(normalizeMode)
  .max(MAX_MODE)
  .refine(isStorableText, { error: NOT_STORABLE })
  .transform((mode) => mode || null)

/** The label of the app or device that recorded the point. A long label is truncated so that the point is not lost. */
export const Source = z
  .string()
  .overwrite((source) => cutText(source, MAX_SOURCE))
  .refine(isStorableText, { error: NOT_STORABLE })

const NO_ADDRESS = 'must be an https:// address'

/**
 * A URL that other people will open: absolute, https, and without characters that a browser ignores (blanks,
 * control characters). At most 2,000 characters, which is LINE's limit.
 */
export const HttpsUrl = text(2_000).refine(
  (url) => /^https:\/\/[^\s\p{Cc}\\]+$/iu.test(url) && URL.canParse(url),
  { error: NO_ADDRESS },
)

const USER_ID_RULE = 'must be 1 to 128 characters of A-Z a-z 0-9 _ . : @ - (and not "." or "..")'

export const isUserId = (id: string): boolean =>
  /^[A-Za-z0-9_.:@-]{1,128}$/.test(id) && id !== '.' && id !== '..'

/**
 * The day of all examples. The document of a running service has the previous day, so that the requests can be tried.
 */
export const EXAMPLE_DAY = '2026-04-12'

/** A pilgrim's id, assigned by a phone client or by LINE. */
export const UserId = z
  .string({ error: ({ input }) => ((input ?? null) === null ? 'is missing' : USER_ID_RULE) })
  .refine(isUserId, { error: USER_ID_RULE })
  .meta({ examples: ['w-5hk3q7d2m9x0c4v8b1n6r2t7ye'] })
export type UserId = z.infer<typeof UserId>

/**
 * An id that an app made from 128 random bits: `w-` and 26 characters of Crockford's base 32. Nobody can guess it, so
 * it proves who calls, like a password.
 */
export const APP_ID = /^w-[0-7][0-9a-hjkmnp-tv-z]{25}$/

export const isAppId = (userId: string): boolean => APP_ID.test(userId)

/** Describes an id in what operators read. */
export const HIDDEN_ID =
  'With open identity an operator below owner reads a pseudonym in place of an id that an app made, because that opens ' +
  'the pilgrim’s own data. Every endpoint for operators accepts it in place of the id'

/** Field names under which existing phone clients send the user id. */
export const USER_ID_ALIASES = ['user_id', 'userId', 'line_user_id'] as const

/** ISO 8601 UTC with milliseconds and Z: the form of every time that this API writes. */
export const Time = z.iso.datetime({ precision: 3 }).meta({ examples: [`${EXAMPLE_DAY}T01:30:00.000Z`] })
export type Time = z.infer<typeof Time>

export const time = (at: number | Date): Time => new Date(at).toISOString()

/** The range of years that every store and every time format supports. */
const FIRST_INSTANT_MS = Date.parse('0001-01-01T00:00:00Z')
const LAST_INSTANT_MS = Date.parse('9999-12-31T23:59:59.999Z')

/** An instant in a request: ISO 8601 with a zone, parsed to epoch milliseconds. */
export const Instant = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 time with a zone' })
  .transform((value) => Date.parse(value))
  .refine((ms) => ms >= FIRST_INSTANT_MS && ms <= LAST_INSTANT_MS, {
    error: 'must lie in the years 1 to 9999 of UTC',
  })

/** A day of the event's time zone, `YYYY-MM-DD`. */
export const Day = z.iso.date().meta({ examples: [EXAMPLE_DAY] })
export type Day = z.infer<typeof Day>

export const exampleText = (example: string) => z.string().meta({ examples: [example] })
export const exampleNumber = (example: number) => z.number().meta({ examples: [example] })

const degrees = (limit: number, example: number) =>
  z
    .number()
    .min(-limit)
    .max(limit)
    .meta({ examples: [example] })
export const Latitude = degrees(90, 24.1477)
export const Longitude = degrees(180, 120.6736)

export const Place = { lat: Latitude, lng: Longitude }

/** The path of data that belongs to one pilgrim. */
export const OfUser = z.object({ userId: UserId })

/** A whole number in a path or a query, which are text. @param form of its digits */
export const wholeNumber = (
  min: number,
  max: number,
  form = /^\d+$/,
  error = `must be a whole number from ${min} to ${max}`,
) => z.string().regex(form, { error }).transform(Number).pipe(z.int().min(min).max(max))

/** Zoom of map cells: a cell is 0.2° wide at 6, and half as wide at each further zoom. */
export const Zoom = wholeNumber(6, 18, /^([6-9]|1[0-8])$/)

/** A measurement beside the position: any number that a float4 column can hold. */
export const Measure = z.number().min(-1e9).max(1e9)

/** Maximum number of points in one request. The body limit is usually reached first. */
export const MAX_POINTS = 5_000

export const ParticipantStatus = z.enum(['active', 'completed', 'withdrawn'])
export type ParticipantStatus = z.infer<typeof ParticipantStatus>

export const ActivityStatus = z.enum(['active', 'paused', 'ended'])
export type ActivityStatus = z.infer<typeof ActivityStatus>

export const Role = z.enum(['owner', 'manager', 'volunteer'])
export type Role = z.infer<typeof Role>

export const HoursOfQuery = wholeNumber(1, 8_760)

/** Pagination of every list: `limit` 1–200 (default 50) and an opaque `cursor`. */
export const PageQuery = z.object({
  limit: wholeNumber(1, 200).default(50),
  // A cursor may hold two ids of 128 characters, percent-encoded and sealed.
  cursor: z.string().max(2_048).optional(),
})
export type PageQuery = z.infer<typeof PageQuery>

export const page = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), next_cursor: z.string().nullable() })

// `first_seen` and `last_seen` mean the same in every answer: the recording times of a pilgrim's first and latest
// point inside the event's area, pending points included. Forms and points outside the area do not count.

export const FirstSeen = Time.describe('Time of the first point inside the event’s area; null without any')
export const LastSeen = Time.describe('Time of the latest point inside the event’s area; null without any')

export const timeOrNull = (at: number | Date | null | undefined): Time | null =>
  at === null || at === undefined ? null : time(at)

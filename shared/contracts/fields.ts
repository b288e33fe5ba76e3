/**
 * The fields that many contracts share: who, where, when, and text that every store can hold.
 */
import { z } from 'zod'

/** Text that Postgres, JSON and Redis can all hold: no NUL, no lone surrogate. */
export const isStorableText = (text: string): boolean => text.isWellFormed() && !text.includes('\u0000')

export const NOT_STORABLE = 'must not contain a NUL character or a lone surrogate'

/** A string of at most `max` UTF-16 units that can be stored as it came. */
export const text = (max: number) => z.string().max(max).refine(isStorableText, { error: NOT_STORABLE })

/** Longest name of a member of an object that is stored, such as a question or a mode. */
const MAX_KEY = 64

/** The name of a member of an object that is stored: text too, and short. */
export const Key = text(MAX_KEY)

/** A mode as the tables know it, whoever wrote it: trimmed, in lower case. */
export const foldMode = (mode: string): string => mode.trim().toLowerCase()

/** Longest name of a mode, and longest label of what took a point. */
export const MAX_MODE = 32
export const MAX_SOURCE = 64

/** At most `max` UTF-16 units of a text, and no half of a character. */
export const cutText = (given: string, max: number): string =>
  given.length <= max ? given : given.slice(0, max).replace(/[\ud800-\udbff]$/, '')

/** How a pilgrim went, as people write it: blanks and capitals mean nothing, an empty one is none. */
export const Mode = z
  .string()
  .overwrite(foldMode)
  .max(MAX_MODE)
  .refine(isStorableText, { error: NOT_STORABLE })
  .transform((mode) => mode || null)

/** What took the point; the end of a long label is cut off, for a point is worth more. */
export const Source = z
  .string()
  .overwrite((source) => cutText(source, MAX_SOURCE))
  .refine(isStorableText, { error: NOT_STORABLE })

const NO_ADDRESS = 'must be an https:// address'

/**
 * An address that somebody else will open: https only, whole, and without what a browser would read past (blanks,
 * control characters). At most 2,000 characters, as LINE takes them.
 */
export const HttpsUrl = text(2_000).refine(
  (url) => /^https:\/\/[^\s\p{Cc}\\]+$/iu.test(url) && URL.canParse(url),
  { error: NO_ADDRESS },
)

const USER_ID_RULE = 'must be 1 to 128 characters of A-Z a-z 0-9 _ . : @ - (and not "." or "..")'

/** Whether a string can name a pilgrim. */
export const isUserId = (id: string): boolean =>
  /^[A-Za-z0-9_.:@-]{1,128}$/.test(id) && id !== '.' && id !== '..'

/** A pilgrim's id: as a phone client or LINE gives it. */
export const UserId = z
  .string({ error: ({ input }) => ((input ?? null) === null ? 'is missing' : USER_ID_RULE) })
  .refine(isUserId, { error: USER_ID_RULE })
export type UserId = z.infer<typeof UserId>

/** The names under which existing phone clients send the pilgrim's id. */
export const USER_ID_ALIASES = ['user_id', 'userId', 'line_user_id'] as const

/** ISO 8601 UTC with milliseconds and Z: the one form in which this API writes a time. */
export const Time = z.iso.datetime({ precision: 3 })
export type Time = z.infer<typeof Time>

/** Writes epoch milliseconds as `Time`. */
export const time = (ms: number): Time => new Date(ms).toISOString()

/** The years that every store, and every form of writing a time, can hold. */
const FIRST_INSTANT_MS = Date.parse('0001-01-01T00:00:00Z')
const LAST_INSTANT_MS = Date.parse('9999-12-31T23:59:59.999Z')

/** A moment that a caller names: ISO 8601 with a zone; read as epoch milliseconds. */
export const Instant = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 time with a zone' })
  .transform((value) => Date.parse(value))
  .refine((ms) => ms >= FIRST_INSTANT_MS && ms <= LAST_INSTANT_MS, {
    error: 'must lie in the years 1 to 9999 of UTC',
  })

/** A day of the event's time zone, `YYYY-MM-DD`. */
export const Day = z.iso.date()
export type Day = z.infer<typeof Day>

export const Latitude = z.number().min(-90).max(90)
export const Longitude = z.number().min(-180).max(180)

/** Of the cells of a map: 0.2° wide at 6, half as wide with each zoom. */
export const Zoom = z
  .string()
  .regex(/^([6-9]|1[0-8])$/, { error: 'must be a whole number from 6 to 18' })
  .transform(Number)

/** What a client may measure beside the position: any finite number that a float4 column holds. */
export const Measure = z.number().min(-1e9).max(1e9)

/** Most points one request may carry; the body limit stops honest clients before this. */
export const MAX_POINTS = 5_000

export const ParticipantStatus = z.enum(['active', 'completed', 'withdrawn'])
export type ParticipantStatus = z.infer<typeof ParticipantStatus>

export const ActivityStatus = z.enum(['active', 'paused', 'ended'])
export type ActivityStatus = z.infer<typeof ActivityStatus>

export const Role = z.enum(['owner', 'manager', 'volunteer'])
export type Role = z.infer<typeof Role>

/** Paging of every list: `limit` 1–200 (default 50) and an opaque `cursor`. */
export const PageQuery = z.object({
  limit: z
    .string()
    .regex(/^\d+$/, { error: 'must be a whole number from 1 to 200' })
    .transform(Number)
    .pipe(z.number().min(1).max(200))
    .default(50),
  cursor: z.string().max(512).optional(),
})
export type PageQuery = z.infer<typeof PageQuery>

/** A page of a list. */
export const page = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), next_cursor: z.string().nullable() })

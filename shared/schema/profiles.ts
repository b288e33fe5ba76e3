/** Who the pilgrims are, and what they have said of themselves. */
import { sql } from 'drizzle-orm'
import { bigserial, boolean, index, integer, jsonb, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'

/** Whether a pilgrim's row reports more than nothing, so that it adds to the event's sums. */
export const REPORTS = `(consumption @? '$.* ? (@ > 0)'::jsonpath OR transport @? '$.* ? (@ > 0)'::jsonpath)`

export const pilgrims = pgTable(
  'pilgrims',
  {
    userId: text('user_id').primaryKey(),
    displayName: text('display_name'),
    pictureUrl: text('picture_url'),
    language: text('language'),
    phone: text('phone'),
    surveyCompletedAt: instant('survey_completed_at'),
    privacyAgreed: boolean('privacy_agreed').notNull().default(false),
    privacyAgreedAt: instant('privacy_agreed_at'),
    privacyVersion: text('privacy_version'),
    /** Consent was taken back: the pilgrim stays off the public map until it is given again. */
    consentWithdrawn: boolean('consent_withdrawn').notNull().default(false),
    participantStatus: text('participant_status').notNull().default('active'),
    photoCount: integer('photo_count').notNull().default(0),
    /** What the pilgrim reports: pieces, and kilometres by mode. */
    consumption: jsonb('consumption').$type<Record<string, number>>().notNull().default({}),
    transport: jsonb('transport').$type<Record<string, number>>().notNull().default({}),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    /** What operators search in, in lower case. */
    searchable: text('searchable').generatedAlwaysAs(
      sql`lower(user_id || chr(10) || coalesce(display_name, ''))`,
    ),
  },
  (table) => [index('pilgrims_who_report').on(table.userId).where(sql.raw(REPORTS))],
)

/** The answers that hold; earlier ones are in the history. */
export const surveys = pgTable('surveys', {
  userId: text('user_id').primaryKey(),
  answers: jsonb('answers').$type<Record<string, unknown>>().notNull(),
  revision: integer('revision').notNull(),
  submittedAt: instant('submitted_at').notNull(),
})

export const surveyHistory = pgTable(
  'survey_history',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    userId: text('user_id').notNull(),
    answers: jsonb('answers').$type<Record<string, unknown>>().notNull(),
    revision: integer('revision').notNull(),
    submittedAt: instant('submitted_at').notNull(),
  },
  (table) => [index().on(table.userId)],
)

/** Every consent and every withdrawal of one. */
export const consents = pgTable(
  'consents',
  {
    id: bigserial('id', { mode: 'number' }).primaryKey(),
    userId: text('user_id').notNull(),
    agreed: boolean('agreed').notNull(),
    version: text('version'),
    at: instant('at').notNull(),
  },
  (table) => [index().on(table.userId)],
)

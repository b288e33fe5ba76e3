/** Pilgrims, their self-reports and surveys. */
import { sql } from 'drizzle-orm'
import { bigserial, boolean, index, integer, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'

/** Whether a pilgrim's row has a self-report above zero, which adds to the event's totals. */
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
    /** Consent was withdrawn: the pilgrim is hidden on the live map until they consent again. */
    consentWithdrawn: boolean('consent_withdrawn').notNull().default(false),
    participantStatus: text('participant_status').notNull().default('active'),
    /** This pilgrim's device is the palanquin, whose place is public. At most one is. */
    palanquin: boolean('palanquin').notNull().default(false),
    photoCount: integer('photo_count').notNull().default(0),
    /** Self-reports: numbers of consumables, and kilometres by mode. */
    consumption: jsonb('consumption').$type<Record<string, number>>().notNull().default({}),
    transport: jsonb('transport').$type<Record<string, number>>().notNull().default({}),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    /** The text that operators search, in lower case. */
    searchable: text('searchable').generatedAlwaysAs(
      sql`lower(user_id || chr(10) || coalesce(display_name, ''))`,
    ),
  },
  (table) => [
    index('pilgrims_who_report').on(table.userId).where(sql.raw(REPORTS)),
    uniqueIndex('pilgrims_palanquin')
      .on(table.palanquin)
      .where(sql`palanquin`),
  ],
)

/** The latest survey of each pilgrim; earlier ones are in the history. */
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

/** Every consent and every withdrawal of consent. */
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

// How many pilgrims the event's totals are of: the same number wherever totals are shown.

/** SQL of a number: those with a counted point or a report of their own above zero, and erased ones who walked. */
export const PILGRIMS_OF_EVENT = `(
  (SELECT count(*) FROM pilgrim_totals WHERE points > 0)
  + (SELECT count(*) FROM pilgrims p WHERE ${REPORTS} AND NOT EXISTS (
      SELECT FROM pilgrim_totals t WHERE t.user_id = p.user_id AND t.points > 0))
  + (SELECT coalesce(sum(walked), 0) FROM erasures))`

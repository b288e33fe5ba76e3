/** Totals of self-reports and surveys, updated by each write, so that no reader scans all pilgrims. */
import { sql } from 'drizzle-orm'
import { index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { exact } from './columns.ts'

/**
 * Self-reports by consumable (pieces) and by mode (millimetres). Each total is the sum of several rows (shards), so
 * that concurrent writers seldom wait for each other. Shard -1: reports of erased people.
 */
export const reportedSums = pgTable(
  'reported_sums',
  {
    shard: integer('shard').notNull(),
    name: text('name').notNull(),
    amount: exact('amount').notNull(),
    carbonMg: exact('carbon_mg').notNull(),
  },
  (table) => [primaryKey({ columns: [table.shard, table.name] })],
)

/** Number of surveys that answer each question; under the empty name, the number of all surveys. */
export const surveyQuestions = pgTable(
  'survey_questions',
  {
    question: text('question').primaryKey(),
    responses: integer('responses').notNull(),
  },
  // Clients may invent any number of names with a suffix; this index finds the most common ones.
  (table) => [
    index('survey_questions_suffixed')
      .on(table.responses.desc(), table.question)
      .where(sql`strpos(${table.question}, '_') > 0`),
  ],
)

/** Number of surveys with each answer; long free texts are not counted. */
export const surveyCounts = pgTable(
  'survey_counts',
  {
    question: text('question').notNull(),
    answer: text('answer').notNull(),
    count: integer('count').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.question, table.answer] }),
    index().on(table.question, table.count.desc(), table.answer),
  ],
)

/** Sums over what pilgrims say of themselves, kept by whoever writes it, so that no reader goes through everybody. */
import { sql } from 'drizzle-orm'
import { index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { exact } from './columns.ts'

/**
 * What is reported, by consumable (pieces) and mode (millimetres). A sum is spread over several rows, so that
 * writers seldom wait for each other; only what they come to together means something. Shard -1: what erased
 * people had reported.
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

/** How many surveys answer a question; under the empty name, how many surveys there are. */
export const surveyQuestions = pgTable(
  'survey_questions',
  {
    question: text('question').primaryKey(),
    responses: integer('responses').notNull(),
  },
  // Names with a suffix are the clients' to invent: the commonest are found without going through all.
  (table) => [
    index('survey_questions_suffixed')
      .on(table.responses.desc(), table.question)
      .where(sql`strpos(${table.question}, '_') > 0`),
  ],
)

/** How often an answer is given; answers too long to be a choice are left out. */
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

/** The ledger: what became of every point, as far as Postgres can know it. The kv keeps the rest. */
import { index, integer, pgTable, primaryKey, serial, text } from 'drizzle-orm/pg-core'
import { exact, instant } from './columns.ts'

const count = (name: string) => exact(name).notNull().default(0)

/** Per life (epoch) of each of the buffer's partitions: points, by what became of them. */
export const ledgerBooks = pgTable(
  'ledger_books',
  {
    epoch: text('epoch').notNull(),
    partition: integer('partition').notNull(),
    // Written in the transaction of each slice of a flush. A slice that is flushed twice counts twice in the
    // last two.
    stored: count('stored'),
    deadLetters: count('dead_letters'),
    repeated: count('repeated'),
    erased: count('erased'),
    // What the kv's books said last: all that is left of them when it has lost them.
    settled: count('settled'),
    /** By how much the four above exceeded `settled` when nothing was in flight. */
    excess: count('excess'),
    duplicate: count('duplicate'),
    dropped: count('dropped'),
    erasedPending: count('erased_pending'),
  },
  (table) => [primaryKey({ columns: [table.epoch, table.partition] })],
)

/** Per caller: how many points a life of a partition has acknowledged to it, and how many of those it forgot. */
export const ledgerCallers = pgTable(
  'ledger_callers',
  {
    epoch: text('epoch').notNull(),
    partition: integer('partition').notNull(),
    caller: text('caller').notNull(),
    acknowledged: count('acknowledged'),
    lost: count('lost'),
  },
  (table) => [primaryKey({ columns: [table.epoch, table.partition, table.caller] })],
)

/** What never reached the buffer, by name; each caller writes its own rows. */
export const ledgerCounts = pgTable(
  'ledger_counts',
  {
    caller: text('caller').notNull(),
    name: text('name').notNull(),
    points: exact('points').notNull(),
  },
  (table) => [primaryKey({ columns: [table.caller, table.name] })],
)

/** When points were found to be lost; a row of a negative number takes back what was found after all. */
export const ledgerLosses = pgTable(
  'ledger_losses',
  {
    id: serial('id').primaryKey(),
    at: instant('at').notNull(),
    epoch: text('epoch').notNull(),
    partition: integer('partition').notNull(),
    points: exact('points').notNull(),
  },
  (table) => [index().on(table.at)],
)

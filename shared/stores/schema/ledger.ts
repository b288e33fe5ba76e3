/** The part of the ledger in Postgres; the other counters are in the kv. */
import { index, integer, pgTable, primaryKey, serial, text } from 'drizzle-orm/pg-core'
import { exact, instant } from './columns.ts'

const count = (name: string) => exact(name).notNull().default(0)

/** Counters of points per epoch of each partition of the buffer. */
export const ledgerCounters = pgTable(
  'ledger_counters',
  {
    epoch: text('epoch').notNull(),
    partition: integer('partition').notNull(),
    // Written in the transaction of each slice of a flush. A slice that is flushed twice counts twice in the last two
    // columns.
    stored: count('stored'),
    deadLetters: count('dead_letters'),
    repeated: count('repeated'),
    erased: count('erased'),
    // The last known counters of the kv, in case it loses them.
    settled: count('settled'),
    /** Excess of the four columns above over `settled` when nothing was in flight. */
    excess: count('excess'),
    duplicate: count('duplicate'),
    dropped: count('dropped'),
    erasedPending: count('erased_pending'),
  },
  (table) => [primaryKey({ columns: [table.epoch, table.partition] })],
)

/** Per caller: points that an epoch of a partition acknowledged, and how many of those it lost. */
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

/** Counters of points that never reached the buffer; each caller writes its own rows. */
export const ledgerCounts = pgTable(
  'ledger_counts',
  {
    caller: text('caller').notNull(),
    name: text('name').notNull(),
    points: exact('points').notNull(),
  },
  (table) => [primaryKey({ columns: [table.caller, table.name] })],
)

/** Detected losses; a negative number corrects an earlier loss whose points were found again. */
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

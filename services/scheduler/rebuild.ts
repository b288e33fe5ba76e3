/**
 * `bun run rebuild`: computes every projection once more from the points, with what erased people had added, and puts
 * right what is not what it should be. With `--check` it only tells.
 */
import { join } from 'node:path'
import { environment, readConfig } from '#shared/config/config.ts'
import { lockDataDirectory } from '#shared/runtime/data-directory-lock.ts'
import type { Database, Query } from '#shared/db/db.ts'
import { openDatabase } from '#shared/db/open-database.ts'
import { expectSchema } from '#shared/db/migrate.ts'
import { lockTiles } from '#shared/map/stored-tiles.ts'
import { type Calendar, createCalendar } from '#shared/rules/calendar.ts'
import { Differences } from './rebuild/differences.ts'
import { rebuildMap } from './rebuild/map.ts'
import { rebuildPilgrims } from './rebuild/pilgrims.ts'
import { rebuildReportTotals, TakenBack } from './rebuild/report-totals.ts'
import { rollUpAll } from './flush/roll-up-cells.ts'
import { readCommandLine } from '#shared/runtime/command-line.ts'
import { describeError } from '#shared/runtime/loggable-error.ts'

/** A run on the same data directory is not waited for: it ends when somebody ends it. */
const WAIT_MS = 1_000

const USAGE = `Computes all totals (pilgrims, days, hours, modes, map cells, reports, surveys) again from their sources, and corrects
every difference. Flushes wait until it ends; check-ins do not.

  bun run rebuild [--check]

  --check   report differences, and change nothing
  --help    print this text

Exit codes: 0 no difference is left, 1 --check found a difference, 2 failed or wrong command line.`

/**
 * Finds every difference between the projections and what they are made of, and unless told otherwise mends it:
 * those of the points in one transaction, during which flushes and erasures wait.
 * @param tell a line for each difference, the same ones in the same order each time
 * @returns how many there were
 */
export async function rebuild(
  db: Database,
  calendar: Calendar,
  { check, tell }: { readonly check: boolean; readonly tell: (line: string) => void },
): Promise<number> {
  const differences = new Differences(tell)
  try {
    await db.sql.begin(async (tx) => {
      await settleAll(tx, calendar, differences)
      if (check) throw new TakenBack()
    })
  } catch (error) {
    if (!(error instanceof TakenBack)) throw error
  }
  await rebuildReportTotals(db, differences, !check)
  return differences.count
}

async function settleAll(tx: Query, calendar: Calendar, differences: Differences): Promise<void> {
  // Every flush and every erasure locks its pilgrims here before anything else; readers are not in the way.
  await tx`LOCK TABLE pilgrim_totals IN EXCLUSIVE MODE`
  await lockTiles(tx)
  await rollUpAll(tx, calendar)
  const sums = await rebuildPilgrims(tx, calendar, differences)
  await sums.addErased(tx)
  await sums.settle(tx, differences)
  await rebuildMap(tx, calendar, differences)
}

/** The command. @returns its exit code */
async function main(): Promise<number> {
  const { check } = readCommandLine(USAGE, { check: { type: 'boolean', default: false } }).values
  const config = readConfig(environment())
  const unlock = config.databaseUrl === '' ? lockDataDirectory(config.dataDir, WAIT_MS) : () => undefined
  const db = await openDatabase({ url: config.databaseUrl, dir: join(config.dataDir, 'db'), statementMs: 0 })
  try {
    await expectSchema(db.sql)
    const calendar = createCalendar(config.timeZone)
    const count = await rebuild(db, calendar, { check, tell: (line) => console.log(line) })
    console.log(count === 0 ? 'Nothing differs.' : `${count} differ${check ? '.' : ', and are put right.'}`)
    return check && count > 0 ? 1 : 0
  } finally {
    await db.close()
    unlock()
  }
}

if (import.meta.main)
  try {
    process.exit(await main())
  } catch (error) {
    console.error(describeError(error))
    process.exit(2)
  }

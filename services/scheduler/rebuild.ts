/**
 * `bun run rebuild`: recomputes every projection from the points and the erased people's totals, and corrects the
 * differences. With `--check` it only reports them.
 */
import { join } from 'node:path'
import { environment, readConfig } from '#shared/runtime/config/config.ts'
import { readEvent } from '#shared/pilgrims/event-settings.ts'
import type { InArea } from '#shared/runtime/config/setting-values.ts'
import { lockDataDirectory } from '#shared/runtime/data-directory-lock.ts'
import type { Database, Tx } from '#shared/stores/db/db.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import { expectSchema } from '#shared/stores/db/migrate.ts'
import { lockTiles } from '#shared/points/totals/stored-tiles.ts'
import { type Calendar, createCalendar } from '#shared/core/rules/calendar.ts'
import { applyArea } from './rebuild/area.ts'
import { Differences } from './rebuild/differences.ts'
import type { Row } from '#shared/points/totals/event-totals.ts'
import { rebuildMap } from './rebuild/map.ts'
import { rebuildPilgrims, reconcileEvent } from './rebuild/pilgrims.ts'
import { rebuildShownWalks } from './rebuild/shown-walks.ts'
import { rollUpAll } from './flush/roll-up-cells.ts'
import { readCommandLine } from '#shared/runtime/command-line.ts'
import { describeError } from '#shared/runtime/log.ts'
import { dropReportsWithoutPoints, recountReported } from '#shared/pilgrims/report-totals.ts'
import { recountSurveys } from '#shared/pilgrims/survey-counts.ts'

/** Short, because a running service locks the data directory until it is stopped. */
const WAIT_MS = 1_000

const USAGE = `Computes all totals (pilgrims, what others see of them, days, hours, modes, map cells, reports, surveys) again from their sources, and corrects
every difference. An area that was set in the console then holds for stored points, too. Flushes wait until it ends;
check-ins do not.

  bun run rebuild [--check] [--drop-erased-reports] [--drop-reports-without-points]

  --check                 report differences, and change nothing
  --drop-erased-reports   take the kilometres and counts that erased people reported out of the event's carbon
  --drop-reports-without-points
                          delete the reports of pilgrims without a stored point, such as invented ones
  --help                  print this text

Exit codes: 0 no difference is left, 1 --check found a difference, 2 failed or wrong command line.`

/**
 * Finds every difference between the projections and their sources, and corrects it unless `check` is set. Flushes and
 * erasures wait during the transaction.
 * @param area the owner's, applied to stored points too; null: they keep the one under which they were accepted
 * @param coarsensClaims whether others see less of claims than of other pilgrims
 * @param dropErased removes the reports of erased people from the totals
 * @param dropPointless deletes the reports of people without a stored point
 * @param tell receives one line for each difference, in a stable order
 * @returns the number of differences
 */
export async function rebuild(
  db: Database,
  calendar: Calendar,
  {
    check,
    area = null,
    coarsensClaims = false,
    dropErased = false,
    dropPointless = false,
    tell,
  }: {
    readonly check: boolean
    readonly area?: InArea | null
    readonly coarsensClaims?: boolean
    readonly dropErased?: boolean
    readonly dropPointless?: boolean
    readonly tell: (line: string) => void
  },
): Promise<number> {
  const differences = new Differences(tell)
  try {
    await db.transaction(async (tx) => {
      await reconcileAll(tx, calendar, area, differences)
      await rebuildShownWalks(tx, coarsensClaims, differences)
      if (check) throw new CheckRolledBack()
    })
  } catch (error) {
    if (!(error instanceof CheckRolledBack)) throw error
  }
  if (dropPointless && !check) await dropReportsWithoutPoints(db)
  await rebuildReportTotals(db, differences, { mend: !check, dropErased })
  return differences.count
}

async function reconcileAll(
  tx: Tx,
  calendar: Calendar,
  area: InArea | null,
  differences: Differences,
): Promise<void> {
  // Flushes and erasures lock their pilgrims in this table first. Readers are not blocked.
  await tx.sql`LOCK TABLE pilgrim_totals IN EXCLUSIVE MODE`
  await lockTiles(tx)
  await rollUpAll(tx, calendar)
  if (area !== null) await applyArea(tx, area, differences)
  const sums = await rebuildPilgrims(tx, calendar, differences)
  await reconcileEvent(tx, sums, differences)
  await rebuildMap(tx, calendar, differences)
}

const TOTALS_OF = {
  reported_sums: `
    SELECT name, sum(amount)::float8 AS amount, sum(carbon_mg)::float8 AS carbon_mg FROM reported_sums
    GROUP BY name HAVING sum(amount) <> 0 OR sum(carbon_mg) <> 0 ORDER BY 1`,
  survey_questions: `SELECT question AS name, responses FROM survey_questions WHERE responses <> 0 ORDER BY 1`,
  survey_counts: `SELECT question || ': ' || answer AS name, count FROM survey_counts WHERE count <> 0 ORDER BY 1`,
}

/** Thrown to roll back the corrections of a check. */
class CheckRolledBack extends Error {}

/**
 * Reconciles these totals, each kind in its own transaction.
 * @param mend false only reports differences
 * @param dropErased removes the reports of erased people
 */
async function rebuildReportTotals(
  db: Database,
  differences: Differences,
  { mend, dropErased }: { readonly mend: boolean; readonly dropErased: boolean },
): Promise<void> {
  const recount = (tables: readonly (keyof typeof TOTALS_OF)[], count: (tx: Tx) => Promise<void>) =>
    db
      .transaction(async (tx) => {
        // The lock waits for concurrent writes, so that only faults differ.
        await tx.sql.unsafe(`LOCK TABLE ${tables.join(', ')} IN EXCLUSIVE MODE`)
        const before = await Promise.all(tables.map((table) => readTotals(tx, table)))
        await count(tx)
        for (const [i, table] of tables.entries())
          compare(differences, table, before[i]!, await readTotals(tx, table))
        if (!mend) throw new CheckRolledBack()
      })
      .catch((error: unknown) => {
        if (!(error instanceof CheckRolledBack)) throw error
      })
  await recount(['reported_sums'], (tx) => recountReported(tx, { dropErased }))
  await recount(['survey_questions', 'survey_counts'], recountSurveys)
}

async function readTotals(tx: Tx, table: keyof typeof TOTALS_OF): Promise<Map<string, string>> {
  const rows = await tx.sql.unsafe<Row[]>(TOTALS_OF[table])
  return new Map(rows.map(({ name, ...figures }) => [String(name), Object.values(figures).join(', ')]))
}

function compare(
  differences: Differences,
  table: string,
  was: ReadonlyMap<string, string>,
  is: ReadonlyMap<string, string>,
): void {
  for (const name of new Set([...was.keys(), ...is.keys()]))
    if (was.get(name) !== is.get(name))
      differences.found(`${table} ${name}: ${was.get(name) ?? 'missing'} → ${is.get(name) ?? 'nothing'}`)
}

async function main(): Promise<number> {
  const {
    check,
    'drop-erased-reports': dropErased,
    'drop-reports-without-points': dropPointless,
  } = readCommandLine(USAGE, {
    check: { type: 'boolean', default: false },
    'drop-erased-reports': { type: 'boolean', default: false },
    'drop-reports-without-points': { type: 'boolean', default: false },
  }).values
  const config = readConfig(environment())
  const unlock = config.databaseUrl === '' ? lockDataDirectory(config.dataDir, WAIT_MS) : () => undefined
  const db = await openDatabase({ url: config.databaseUrl, dir: join(config.dataDir, 'db'), statementMs: 0 })
  try {
    await expectSchema(db)
    const calendar = createCalendar(config.timeZone)
    const tell = (line: string) => console.log(line)
    const event = await readEvent(db, config)
    const area = event.hasOwnArea ? event.area : null
    const coarsensClaims = config.identity === 'open' && config.mapCrowd > 1
    const count = await rebuild(db, calendar, {
      check,
      area,
      coarsensClaims,
      dropErased,
      dropPointless,
      tell,
    })
    console.log(
      count === 0 ? 'Nothing differs.' : `${count} rows differ${check ? '.' : ' and are corrected.'}`,
    )
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

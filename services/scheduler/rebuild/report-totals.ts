/** Counts the totals of pilgrims' reports and surveys again, and compares them with the stored ones. */
import type { Database, Query } from '#shared/stores/db/db.ts'
import { recountReported } from '#shared/pilgrims/report-totals.ts'
import { recountSurveys } from '#shared/pilgrims/survey-counts.ts'
import type { Differences, Row } from './differences.ts'

/** The totals of each table, summed over its rows. */
const TOTALS_OF = {
  reported_sums: `
    SELECT name, sum(amount)::float8 AS amount, sum(carbon_mg)::float8 AS carbon_mg FROM reported_sums
    GROUP BY name HAVING sum(amount) <> 0 OR sum(carbon_mg) <> 0 ORDER BY 1`,
  survey_questions: `SELECT question AS name, responses FROM survey_questions WHERE responses <> 0 ORDER BY 1`,
  survey_counts: `SELECT question || ': ' || answer AS name, count FROM survey_counts WHERE count <> 0 ORDER BY 1`,
}

/** Thrown to roll back the corrections of a check. */
export class CheckRolledBack extends Error {}

/**
 * Reconciles these totals, each kind in its own transaction.
 * @param mend false only reports differences
 * @param dropErased removes what erased people reported
 */
export async function rebuildReportTotals(
  db: Database,
  differences: Differences,
  { mend, dropErased }: { readonly mend: boolean; readonly dropErased: boolean },
): Promise<void> {
  const recount = (tables: readonly (keyof typeof TOTALS_OF)[], count: (tx: Query) => Promise<void>) =>
    db.sql
      .begin(async (tx) => {
        // The lock waits for concurrent writes, so that only faults differ.
        await tx.unsafe(`LOCK TABLE ${tables.join(', ')} IN EXCLUSIVE MODE`)
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

async function readTotals(tx: Query, table: keyof typeof TOTALS_OF): Promise<Map<string, string>> {
  const rows = await tx.unsafe<Row[]>(TOTALS_OF[table])
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

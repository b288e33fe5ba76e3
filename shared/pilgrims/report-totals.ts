/** The sums over what all pilgrims report: kept with each report, in its transaction. */
import { sql } from 'drizzle-orm'
import type { Query } from '#shared/db/db.ts'
import type { Writer } from '#shared/bus/outbox.ts'
import { KG_PER_KM, KG_PER_UNIT } from '#shared/rules/carbon.ts'
import { type Reported, reportedAmounts } from '#shared/rules/reported-carbon.ts'

/** Rows that each sum is spread over: two reports at a time seldom add to the same one. */
const SHARDS = 16
/** Shard of what erased people had reported. */
const ERASED = -1
export const NOTHING_REPORTED: Reported = { consumption: {}, transport: {} }

/** Books a change of what one pilgrim reports. The caller holds the pilgrim's row. */
export async function addToReportTotals(tx: Writer, before: Reported, after: Reported): Promise<void> {
  await book(tx, Math.floor(Math.random() * SHARDS), before, after)
}

/** Books what an erased pilgrim had reported as nobody's: the event's sums stay as they are. */
export async function addErasedToReportTotals(tx: Writer, reported: Reported): Promise<void> {
  // In the order of shards, as any other transaction, so that two of them can not deadlock.
  await book(tx, ERASED, NOTHING_REPORTED, reported)
  await addToReportTotals(tx, reported, NOTHING_REPORTED)
}

async function book(tx: Writer, shard: number, before: Reported, after: Reported): Promise<void> {
  const [was, is] = [reportedAmounts(before), reportedAmounts(after)]
  const changes = [...new Set([...was.keys(), ...is.keys()])].sort().flatMap((name) => {
    const amount = (is.get(name)?.amount ?? 0) - (was.get(name)?.amount ?? 0)
    const mg = (is.get(name)?.carbonMg ?? 0) - (was.get(name)?.carbonMg ?? 0)
    return amount === 0 && mg === 0 ? [] : [{ name, amount, mg }]
  })
  if (changes.length === 0) return
  await tx.execute(sql`
    INSERT INTO reported_sums AS s (shard, name, amount, carbon_mg)
    SELECT ${shard}::int, name, amount, mg
    FROM jsonb_to_recordset(${JSON.stringify(changes)}::text::jsonb) AS c (name text, amount bigint, mg bigint)
    ORDER BY name
    ON CONFLICT (shard, name) DO UPDATE SET
      amount = s.amount + excluded.amount, carbon_mg = s.carbon_mg + excluded.carbon_mg`)
}

const FACTORS = JSON.stringify({ unit: KG_PER_UNIT, km: KG_PER_KM })

/**
 * Counts the sums of everybody anew, from what the pilgrims' rows say; what erased people had reported stays.
 * Double precision, as the rules compute, so that both come to the same. Inside a transaction of its own.
 */
export async function recountReported(tx: Query): Promise<void> {
  // Whoever has booked already is waited for and seen; whoever has not books onto what is written here.
  await tx`LOCK TABLE reported_sums IN EXCLUSIVE MODE`
  await tx`DELETE FROM reported_sums WHERE shard <> ${ERASED}`
  await tx`
    INSERT INTO reported_sums (shard, name, amount, carbon_mg)
    WITH factors AS (SELECT ${FACTORS}::text::jsonb AS f), amounts AS (
      SELECT u.key AS name, (p.consumption->>u.key)::float8 AS amount,
             (p.consumption->>u.key)::float8 * u.value::float8 * 1e6 AS mg
      FROM factors, jsonb_each_text(f->'unit') u, pilgrims p WHERE p.consumption ? u.key
      UNION ALL
      SELECT name, mm, mm * (f->'km'->>name)::float8
      FROM pilgrims p, jsonb_each_text(p.transport) t, factors,
        LATERAL (SELECT CASE WHEN f->'km' ? t.key THEN t.key ELSE 'bus' END AS name,
                        floor(t.value::float8 * 1e6 + 0.5) AS mm) k
    )
    SELECT 0, name, sum(amount)::bigint, sum(floor(mg + 0.5))::bigint FROM amounts GROUP BY name`
}

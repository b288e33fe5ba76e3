/** Totals of all self-reports, updated in the transaction of each report. */
import type { Tx } from '#shared/stores/db/db.ts'
import { REPORTS } from '#shared/stores/schema/tables.ts'
import { APP_ID } from '#shared/contracts/fields.ts'
import { KG_PER_KM, KG_PER_UNIT, MODES, type Reported, reportedAmounts } from '#shared/core/rules/carbon.ts'

/** Number of rows per total, so that concurrent reports seldom update the same row. */
const SHARDS = 16
/** Shard of the reports of erased people. */
const ERASED = -1
const NOTHING_REPORTED: Reported = { consumption: {}, transport: {} }

/** Adds the change of one pilgrim's report to the totals. The caller has locked the pilgrim's row. */
export async function addToReportTotals(tx: Tx, before: Reported, after: Reported): Promise<void> {
  await addDifference(tx, Math.floor(Math.random() * SHARDS), before, after)
}

/** Moves the report of an erased pilgrim to the shard of erased people, so the event's totals stay the same. */
export async function addErasedReportTotals(tx: Tx, reported: Reported): Promise<void> {
  // All transactions update shards in ascending order, which prevents deadlocks.
  await addDifference(tx, ERASED, NOTHING_REPORTED, reported)
  await addToReportTotals(tx, reported, NOTHING_REPORTED)
}

async function addDifference(tx: Tx, shard: number, before: Reported, after: Reported): Promise<void> {
  const [was, is] = [reportedAmounts(before), reportedAmounts(after)]
  const changes = [...new Set([...was.keys(), ...is.keys()])].sort().flatMap((name) => {
    const amount = (is.get(name)?.amount ?? 0) - (was.get(name)?.amount ?? 0)
    const mg = (is.get(name)?.carbonMg ?? 0) - (was.get(name)?.carbonMg ?? 0)
    return amount === 0 && mg === 0 ? [] : [{ name, amount, mg }]
  })
  if (changes.length === 0) return
  await tx.sql`
    INSERT INTO reported_sums AS s (shard, name, amount, carbon_mg)
    SELECT ${shard}::int, name, amount, mg
    FROM jsonb_to_recordset(${JSON.stringify(changes)}::text::jsonb) AS c (name text, amount bigint, mg bigint)
    ORDER BY name
    ON CONFLICT (shard, name) DO UPDATE SET
      amount = s.amount + excluded.amount, carbon_mg = s.carbon_mg + excluded.carbon_mg`
}

/**
 * Deletes the reports of pilgrims without a stored point. Call it before recounting the totals, and not under their
 * lock: a report locks its pilgrim first.
 */
export async function dropReportsWithoutPoints(tx: Tx): Promise<void> {
  await tx.sql`
    UPDATE pilgrims p SET consumption = '{}', transport = '{}'
    WHERE ${tx.sql.unsafe(REPORTS)} AND NOT EXISTS (SELECT FROM gps_points g WHERE g.user_id = p.user_id)`
}

const FACTORS = JSON.stringify({ unit: KG_PER_UNIT, km: KG_PER_KM })

/**
 * Rebuilds the totals from the pilgrims' rows; the shard of erased people stays unless it is to be dropped. Computes in
 * double precision, as the rules do, so that both give the same result. Needs its own transaction.
 */
export async function recountReported(tx: Pick<Tx, 'sql'>, { dropErased = false } = {}): Promise<void> {
  // The lock waits for transactions that have updated the totals; later ones update the rebuilt totals.
  await tx.sql`LOCK TABLE reported_sums IN EXCLUSIVE MODE`
  await tx.sql`DELETE FROM reported_sums WHERE shard <> ${ERASED} OR ${dropErased}`
  await tx.sql`
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

/** SQL: whether a row of `t` belongs to a claim, while `EVENT_IDENTITY` is open. */
export const IS_CLAIM = `t.user_id !~ '${APP_ID.source}'`
/** SQL: the kilometres of a row of `pilgrim_totals t LEFT JOIN shown_walks s` that others see, in millimetres. */
export const SHOWN_MM = 'coalesce(s.distance_mm, t.distance_mm)'
/** SQL: the coarse kilometres of a row of `pilgrim_totals t LEFT JOIN shown_walks s`, in millimetres. */
export const COARSE_MM = `CASE WHEN ${SHOWN_MM} < 1e7 THEN floor(${SHOWN_MM} / 1e6) * 1e6
  ELSE floor(${SHOWN_MM} / 5e6) * 5e6 END`
/** SQL: the part of a claim's walk that others see. */
export const SHOWN_WALK = 'LEFT JOIN shown_walks s ON s.user_id = t.user_id AND s.until > now()'

/**
 * SQL of the reported kilometres in public sums, as a row of `mm` and `mg`: for each pilgrim at most the distance they
 * walked, and for the erased ones together likewise. So reports alone cannot raise a public sum.
 * @param coarsensClaims whether a claim counts only with the walk that others see
 */
export const publicReports = (coarsensClaims: boolean): string => `(
  SELECT coalesce(sum(floor(mm * part)), 0)::float8 AS mm, coalesce(sum(floor(mg * part)), 0)::float8 AS mg
  FROM (
    SELECT r.mm, r.mg, least(1, w.mm / r.mm) AS part
    FROM pilgrims p JOIN pilgrim_totals t USING (user_id)
    ${coarsensClaims ? SHOWN_WALK : ''}
    CROSS JOIN LATERAL (
      SELECT (${coarsensClaims ? `CASE WHEN ${IS_CLAIM} THEN ${COARSE_MM} ELSE t.distance_mm END` : 't.distance_mm'})::float8 AS mm
    ) w
    CROSS JOIN LATERAL (
      SELECT sum(k.value::float8 * 1e6) AS mm,
             sum(k.value::float8 * 1e6 * coalesce((f->>k.key)::float8, ${KG_PER_KM.bus})) AS mg
      FROM jsonb_each_text(p.transport) k, (VALUES ('${JSON.stringify(KG_PER_KM)}'::jsonb)) v (f)) r
    WHERE ${REPORTS} AND w.mm > 0 AND r.mm > 0
    UNION ALL
    SELECT r.mm, r.mg, least(1, (SELECT coalesce(sum(distance_mm), 0)::float8 FROM erased_modes) / r.mm)
    FROM (
      SELECT sum(amount)::float8 AS mm, sum(carbon_mg)::float8 AS mg FROM reported_sums
      WHERE shard = ${ERASED} AND name = ANY(ARRAY['${MODES.join("','")}'])
    ) r WHERE r.mm > 0
  ) reports)`

/** The event's totals for followers, from the tables that the flush updates. */
import type { ServiceContext } from '#shared/service/context.ts'
import { time } from '#shared/contracts/fields.ts'
import type { MapTotals } from '#shared/contracts/map.ts'
import { PILGRIMS_OF_EVENT } from '#shared/pilgrims/pilgrims-of-event.ts'
import { readLastFlush } from '#shared/points/last-flush.ts'
import { KG_PER_UNIT, savedMg } from '#shared/core/rules/carbon.ts'
import { LEVELS } from '#shared/core/rules/levels.ts'

interface Sums {
  readonly mm: number
  readonly mg: number
  /** What pilgrims report about other ways; it counts for the carbon saved, as in `admin/carbon`. */
  readonly reportedMm: number
  readonly reportedMg: number
  /** Of whom the sums are, with erased ones. */
  readonly pilgrims: number
  /** Pilgrims with a counted point. */
  readonly walkers: number
  /** Number of them with at least this level, from level 2 on. */
  readonly reached: readonly number[]
}

const CONSUMABLES = Object.keys(KG_PER_UNIT)

/** Level 1 has no conditions; the others need a distance and check-ins. */
const REACHED = LEVELS.slice(1)
  .map(
    ({ minKm, minCheckins }) =>
      `count(*) FILTER (WHERE distance_mm >= ${minKm * 1e6} AND checkins >= ${minCheckins})`,
  )
  .join(', ')

/** @returns null with fewer pilgrims than `crowd`: their sum would be one person's figure, nearly */
export async function readEventTotals(
  { db, kv }: Pick<ServiceContext, 'db' | 'kv'>,
  crowd: number,
): Promise<MapTotals | null> {
  // First, so that the sums are not older than the time that stands beside them.
  const lastFlush = await readLastFlush(db, kv)
  const { mm, mg, reportedMm, reportedMg, pilgrims, walkers, reached } = await db.read(async () => {
    const [row] = await db.sql<[{ sums: string }]>`
      SELECT json_build_object(
        'mm', (SELECT coalesce(sum(distance_mm), 0) FROM event_modes),
        'mg', (SELECT coalesce(sum(carbon_mg), 0) FROM event_modes),
        'reportedMm', (SELECT coalesce(sum(amount), 0) FROM reported_sums WHERE name NOT IN ${db.sql(CONSUMABLES)}),
        'reportedMg', (SELECT coalesce(sum(carbon_mg), 0) FROM reported_sums WHERE name NOT IN ${db.sql(CONSUMABLES)}),
        'pilgrims', ${db.sql.unsafe(PILGRIMS_OF_EVENT)},
        'walkers', (SELECT count(*) FROM pilgrim_totals WHERE points > 0),
        'reached', (SELECT json_build_array(${db.sql.unsafe(REACHED)}) FROM pilgrim_totals WHERE points > 0)
      )::text AS sums`
    return JSON.parse(row.sums) as Sums
  })
  if (walkers < crowd) return null
  const atLeast = [walkers, ...reached, 0]
  return {
    as_of: lastFlush === null ? null : time(lastFlush),
    pilgrims,
    km: Math.floor(mm / 1e6),
    carbon_saved_kg: Math.round(savedMg(mm + reportedMm, mg + reportedMg) / 1e6),
    levels: LEVELS.map((_, i) => atLeast[i]! - atLeast[i + 1]!),
  }
}

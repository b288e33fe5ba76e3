/** The event's carbon footprint: segments from the totals that the flush updates, and pilgrims' reports. */
import type { ServiceContext } from '#shared/service/context.ts'
import { timeOrNull } from '#shared/contracts/fields.ts'
import type { Carbon } from '#shared/contracts/reports.ts'
import { readLastFlush } from '#shared/points/pending-points.ts'
import { KG_PER_UNIT, savedMg } from '#shared/core/rules/carbon.ts'
import { roundKg, roundKmOfRow } from '#shared/core/rules/rounding.ts'
import type { ModeTotals } from '#shared/core/distance/points-to-distance.ts'
import { PILGRIMS_OF_EVENT } from '#shared/stores/schema/tables.ts'

interface Sums {
  segments: [day: string, mode: string, mm: number, mg: number][]
  reported: [name: string, amount: number, mg: number][]
  pilgrims: number
}

const noAmount = (): ModeTotals => ({ distanceMm: 0, carbonMg: 0 })
const add = (into: ModeTotals, distanceMm: number, carbonMg: number) => {
  into.distanceMm += distanceMm
  into.carbonMg += carbonMg
}
const shown = ({ distanceMm, carbonMg: mg }: ModeTotals) => ({
  km: roundKmOfRow(distanceMm),
  kg: roundKg(mg),
})

const byName = <T>(modes: ReadonlyMap<string, ModeTotals>, figure: (amount: ModeTotals) => T) =>
  Object.fromEntries(
    [...modes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([mode, amount]) => [mode, figure(amount)]),
  )

/** Reads everything in one statement, so that the figures are consistent. */
async function readSums({ db }: ServiceContext): Promise<Sums> {
  const [row] = await db.read(
    () => db.sql<[{ sums: string }]>`
      SELECT json_build_object(
        'segments', (SELECT coalesce(json_agg(json_build_array(day, mode, distance_mm, carbon_mg) ORDER BY day), '[]')
                     FROM event_modes),
        'reported', (SELECT coalesce(json_agg(json_build_array(name, amount, mg)), '[]') FROM (
                       SELECT name, sum(amount) AS amount, sum(carbon_mg) AS mg FROM reported_sums GROUP BY name) r),
        'pilgrims', ${db.sql.unsafe(PILGRIMS_OF_EVENT)}
      )::text AS sums`,
  )
  return JSON.parse(row.sums) as Sums
}

/** Total = sum over modes (self-reported kilometres included) + consumption. Reports have no day. */
export async function readCarbon(context: ServiceContext): Promise<Carbon> {
  const [sums, lastFlush] = await Promise.all([readSums(context), readLastFlush(context)])
  const byMode = new Map<string, ModeTotals>()
  const recorded = new Map<string, ModeTotals>()
  const byDay = new Map<string, ModeTotals>()
  const all = noAmount()
  const pieces = { water: 0, recycle: 0, hotel: 0 }
  let consumedMg = 0
  for (const [day, mode, mm, mg] of sums.segments)
    for (const into of [
      byMode.getOrInsertComputed(mode, noAmount),
      recorded.getOrInsertComputed(mode, noAmount),
      byDay.getOrInsertComputed(day, noAmount),
      all,
    ])
      add(into, mm, mg)
  for (const [name, amount, mg] of sums.reported)
    if (Object.hasOwn(KG_PER_UNIT, name)) {
      pieces[name as keyof typeof pieces] = amount
      consumedMg += mg
    } else for (const into of [byMode.getOrInsertComputed(name, noAmount), all]) add(into, amount, mg)
  const totalMg = all.carbonMg + consumedMg
  return {
    total_kg: roundKg(totalMg),
    mean_kg: sums.pilgrims === 0 ? 0 : roundKg(totalMg / sums.pilgrims),
    saved_kg: roundKg(savedMg(all.distanceMm, all.carbonMg)),
    pilgrims: sums.pilgrims,
    by_mode: byName(byMode, shown),
    recorded_km: byName(recorded, ({ distanceMm }) => roundKmOfRow(distanceMm)),
    by_day: [...byDay].map(([day, amount]) => ({ day, ...shown(amount) })),
    consumption: { ...pieces, kg: roundKg(consumedMg) },
    as_of: timeOrNull(lastFlush),
  }
}

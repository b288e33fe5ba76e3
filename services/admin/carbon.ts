/** The event's carbon footprint: segments from the sums that the flush keeps, and what pilgrims report. */
import type { ServiceContext } from '#shared/context.ts'
import { time } from '#shared/contracts/fields.ts'
import type { Carbon } from '#shared/contracts/reports.ts'
import { readLastFlush } from '#shared/last-flush.ts'
import { carbonMg, KG_PER_UNIT, modeNamed } from '#shared/rules/carbon.ts'
import { shownKg, shownKm } from '#shared/rules/shown.ts'
import { entryOf, type ModeSums } from '#shared/rules/tally.ts'

const noAmount = (): ModeSums => ({ distanceMm: 0, carbonMg: 0 })
const add = (into: ModeSums, sums: ModeSums) => {
  into.distanceMm += sums.distanceMm
  into.carbonMg += sums.carbonMg
}
const shown = ({ distanceMm, carbonMg: mg }: ModeSums) => ({ km: shownKm(distanceMm), kg: shownKg(mg) })

/** Total = sum over modes (self-reported kilometres included) + consumption. Reports have no day. */
export async function readCarbon({ db, kv }: ServiceContext): Promise<Carbon> {
  const [segments, transport, [reported], lastFlush] = await Promise.all([
    db.read(
      () => db.sql<{ day: string; mode: string; mm: number; mg: number }[]>`
        SELECT day::text AS day, mode, distance_mm::float8 AS mm, carbon_mg::float8 AS mg
        FROM event_modes ORDER BY day, mode`,
    ),
    db.read(
      () => db.sql<{ mode: string; mm: number }[]>`
        SELECT e.key AS mode, sum(round(e.value::numeric * 1000000))::float8 AS mm
        FROM pilgrims, jsonb_each_text(transport) e WHERE transport <> '{}' GROUP BY e.key`,
    ),
    db.read(
      () => db.sql<{ pilgrims: number; water: number; recycle: number; hotel: number }[]>`
        SELECT count(*)::int AS pilgrims, coalesce(sum((consumption->>'water')::int), 0)::float8 AS water,
               coalesce(sum((consumption->>'recycle')::int), 0)::float8 AS recycle,
               coalesce(sum((consumption->>'hotel')::int), 0)::float8 AS hotel
        FROM pilgrims`,
    ),
    readLastFlush(db, kv),
  ])
  const byMode = new Map<string, ModeSums>()
  const byDay = new Map<string, ModeSums>()
  const all = noAmount()
  for (const { day, mode, mm, mg } of segments)
    for (const into of [entryOf(byMode, mode, noAmount), entryOf(byDay, day, noAmount), all])
      add(into, { distanceMm: mm, carbonMg: mg })
  for (const { mode: name, mm } of transport) {
    const mode = modeNamed(name)
    for (const into of [entryOf(byMode, mode, noAmount), all])
      add(into, { distanceMm: mm, carbonMg: carbonMg(mm, mode) })
  }
  const { pilgrims, water, recycle, hotel } = reported!
  const consumedMg = Math.round(
    (water * KG_PER_UNIT.water + recycle * KG_PER_UNIT.recycle + hotel * KG_PER_UNIT.hotel) * 1e6,
  )
  const totalMg = all.carbonMg + consumedMg
  return {
    total_kg: shownKg(totalMg),
    mean_kg: pilgrims === 0 ? 0 : shownKg(totalMg / pilgrims),
    saved_kg: shownKg(carbonMg(all.distanceMm, 'bus') - all.carbonMg),
    pilgrims,
    by_mode: Object.fromEntries(
      [...byMode].sort(([a], [b]) => (a < b ? -1 : 1)).map(([mode, sums]) => [mode, shown(sums)]),
    ),
    by_day: [...byDay].map(([day, sums]) => ({ day, ...shown(sums) })),
    consumption: { water, recycle, hotel, kg: shownKg(consumedMg) },
    as_of: lastFlush === null ? null : time(lastFlush),
  }
}

/** The event by day and hour of its time zone, from the totals that the flush updates. */
import { asc, desc, inArray } from 'drizzle-orm'
import type { ServiceContext } from '#shared/service/context.ts'
import { time, timeOrNull } from '#shared/contracts/fields.ts'
import type { Timeline, TimelineEntry } from '#shared/contracts/reports.ts'
import { readLastFlush } from '#shared/points/pending-points.ts'
import { roundKg, roundKmOfRow } from '#shared/core/rules/rounding.ts'
import { addTotals, type Totals, zeroTotals } from '#shared/core/distance/points-to-distance.ts'
import { auditLog, eventDays, eventHours } from '#shared/stores/schema/tables.ts'

/** Maximum number of entries shown: the newest. An event has only a few. */
const MAX_ENTRIES = 1_000

const figures = (sums: Totals, pilgrims: number) => ({
  points: sums.points,
  checkins: sums.checkins,
  pilgrims,
  km: roundKmOfRow(sums.distanceMm),
  carbon_kg: roundKg(sums.carbonMg),
})

export async function readTimeline(context: ServiceContext): Promise<Timeline> {
  const { config, db, calendar } = context
  const [hours, days, entries, lastFlush] = await Promise.all([
    db.read(() => db.orm.select().from(eventHours).orderBy(asc(eventHours.hour))),
    db.read(() => db.orm.select().from(eventDays).orderBy(asc(eventDays.day))),
    readEntries(context),
    readLastFlush(context),
  ])
  const byDay = new Map<string, Totals>()
  for (const hour of hours)
    addTotals(byDay.getOrInsertComputed(calendar.day(hour.hour.getTime()), zeroTotals), hour)
  return {
    time_zone: config.timeZone,
    days: days.map(({ day, pilgrims }) => ({ day, ...figures(byDay.get(day) ?? zeroTotals(), pilgrims) })),
    hours: hours.map((hour) => ({ hour: time(hour.hour), ...figures(hour, hour.pilgrims) })),
    entries,
    as_of: timeOrNull(lastFlush),
  }
}

async function readEntries({ event, db, now }: ServiceContext): Promise<TimelineEntry[]> {
  const rows = await db.read(() =>
    db.orm
      .select()
      .from(auditLog)
      .where(inArray(auditLog.action, ['set-status', 'end-activity', 'push']))
      .orderBy(desc(auditLog.id))
      .limit(MAX_ENTRIES),
  )
  const entries = rows.toReversed().map((row): TimelineEntry => {
    const details = row.details as { status?: string; message?: string | null }
    const kind =
      row.action === 'push'
        ? 'push'
        : row.action === 'end-activity'
          ? 'ended'
          : details.status === 'paused'
            ? 'paused'
            : 'resumed'
    return { at: time(row.at), kind, by: row.tokenName, message: details.message ?? null }
  })
  const { startsMs } = event.current
  if (startsMs !== null && startsMs <= now())
    entries.push({ at: time(startsMs), kind: 'started', by: null, message: null })
  return entries.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}

/** Emergencies as operators read them, in the console and in alerts. */
import { type Emergency, type EmergencyPlace, EmergencySource } from '#shared/contracts/emergencies.ts'
import { time, timeOrNull } from '#shared/contracts/fields.ts'
import { isPlace } from '#shared/core/rules/geo.ts'
import { readPending } from '#shared/points/pending-points.ts'
import type { Point } from '#shared/points/point.ts'
import type { Database } from '#shared/stores/db/db.ts'
import type { KvPoints } from '#shared/stores/kv/kv.ts'
import { emergencies, pilgrims, pilgrimTotals } from '#shared/stores/schema/tables.ts'
import { desc, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'

/** Whether points of the pilgrim are stored. An invented id has none. */
export const HAS_POINTS = sql`pilgrim_totals.last_seen IS NOT NULL`

const MOST = 100

/**
 * Emergencies, unconfirmed ones first, then those of pilgrims with stored points, then the latest. Only unconfirmed
 * ones have phone numbers.
 */
export async function readEmergencies(
  { db, kv }: { readonly db: Database; readonly kv: KvPoints },
  which: SQL,
): Promise<Emergency[]> {
  const rows = await db.read(() =>
    db.orm
      .select({
        ...getTableColumns(emergencies),
        displayName: pilgrims.displayName,
        phone: pilgrims.phone,
        hasPoints: sql<boolean>`${HAS_POINTS}`,
        last: {
          lat: pilgrimTotals.lastLat,
          lng: pilgrimTotals.lastLng,
          at: pilgrimTotals.lastSeen,
        },
      })
      .from(emergencies)
      .leftJoin(pilgrims, eq(pilgrims.userId, emergencies.userId))
      .leftJoin(pilgrimTotals, eq(pilgrimTotals.userId, emergencies.userId))
      .where(which)
      .orderBy(
        sql`${emergencies.confirmedAt} IS NOT NULL`,
        sql`NOT ${HAS_POINTS}`,
        desc(emergencies.lastPressAt),
      )
      .limit(MOST),
  )
  const placeless = rows.filter(({ lat }) => lat === null).map(({ userId }) => userId)
  const pending = placeless.length === 0 ? null : await readPending(kv, placeless)
  return rows.map((row) => ({
    id: row.id,
    userId: row.userId,
    has_points: row.hasPoints,
    display_name: row.displayName,
    phone: row.confirmedAt === null ? row.phone : null,
    source: EmergencySource.parse(row.source),
    first_press_at: time(row.firstPressAt),
    last_press_at: time(row.lastPressAt),
    presses: row.presses,
    place: placeOf(row) ?? lastPlace(pending?.get(row.userId) ?? [], row.last),
    confirmed_at: timeOrNull(row.confirmedAt),
    confirmed_by: row.confirmedBy,
  }))
}

function placeOf({
  lat,
  lng,
  accuracy,
  placeAt,
}: Pick<typeof emergencies.$inferSelect, 'lat' | 'lng' | 'accuracy' | 'placeAt'>): EmergencyPlace | null {
  if (lat === null || lng === null || placeAt === null) return null
  return { lat, lng, accuracy, at: time(placeAt), of_press: true }
}

interface Stored {
  readonly lat: number | null
  readonly lng: number | null
  readonly at: Date | null
}

/** The last known place of a pilgrim: pending, or stored. */
function lastPlace(pending: readonly Point[], stored: Stored | null): EmergencyPlace | null {
  const [latest] = pending.filter(isPlace).sort((a, b) => b.recordedMs - a.recordedMs)
  if (latest !== undefined && latest.recordedMs >= (stored?.at?.getTime() ?? -Infinity)) {
    const { lat, lng, accuracy, recordedMs } = latest
    return { lat, lng, accuracy, at: time(recordedMs), of_press: false }
  }
  if (stored === null || stored.lat === null || stored.lng === null || stored.at === null) return null
  return { lat: stored.lat, lng: stored.lng, accuracy: null, at: time(stored.at), of_press: false }
}

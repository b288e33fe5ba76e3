/** `GET data`. Operators get all latest positions, exact and with names. The public gets `PublicMap`. */
import type { ServiceContext } from '#shared/service/context.ts'
import { time } from '#shared/contracts/fields.ts'
import type { DataQuery, LiveMap } from '#shared/contracts/tracking.ts'
import type { Operator } from '#shared/service/security/admin-auth.ts'
import { inArray } from 'drizzle-orm'
import { within } from '#shared/runtime/deadline.ts'
import { type Database, isDatabaseUnavailable } from '#shared/stores/db/db.ts'
import { pilgrims } from '#shared/stores/schema/tables.ts'
import type { LivePositions } from './latest-positions.ts'
import type { PublicMap } from './public-map.ts'

export function createMap(
  { db, now }: Pick<ServiceContext, 'db' | 'now'>,
  live: LivePositions,
  publicMap: PublicMap,
): (query: DataQuery, operator: Operator | null) => Promise<LiveMap> {
  return async (query, operator) => ({
    points: operator === null ? await publicMap.read(query) : await namedPositions(query),
    generated_at: time(now()),
  })

  async function namedPositions(query: DataQuery): Promise<LiveMap['points']> {
    const positions = await live.read(query)
    const names = await displayNames(
      db,
      positions.map(({ userId }) => userId),
    )
    return positions.map(({ userId, lat, lng, t }) => ({
      id: live.publicId(userId),
      lat,
      lng,
      recorded_at: time(t),
      userId,
      display_name: names.get(userId) ?? null,
    }))
  }
}

/** The longest time that a live map request waits for names. */
const TIMEOUT_MS = 1_000

/**
 * Reads names of pilgrims. Returns none while the database is unavailable or slow, because the map works without them.
 */
async function displayNames(db: Database, userIds: string[]): Promise<Map<string, string | null>> {
  const query = db.orm
    .select({ userId: pilgrims.userId, name: pilgrims.displayName })
    .from(pilgrims)
    .where(inArray(pilgrims.userId, userIds))
  try {
    const rows = await within(query, TIMEOUT_MS, () => [])
    return new Map(rows.map(({ userId, name }) => [userId, name]))
  } catch (error) {
    if (isDatabaseUnavailable(error)) return new Map()
    throw error
  }
}

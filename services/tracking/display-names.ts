/** Display names for the operators' live map. */
import { inArray } from 'drizzle-orm'
import { within } from '#shared/runtime/deadline.ts'
import { type Database, isDatabaseUnavailable } from '#shared/db/db.ts'
import { pilgrims } from '#shared/schema/profiles.ts'

/** The longest time that a live map request waits for names. */
const TIMEOUT_MS = 1_000

/** Reads names of pilgrims. Returns none while the database is unavailable or slow, because the map works without them. */
export async function displayNames(db: Database, userIds: string[]): Promise<Map<string, string | null>> {
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

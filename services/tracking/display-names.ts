/** Names for the operators' map. */
import { inArray } from 'drizzle-orm'
import { within } from '#shared/runtime/deadline.ts'
import { type Database, isDatabaseUnavailable } from '#shared/db/db.ts'
import { pilgrims } from '#shared/schema/profiles.ts'

/** The live map waits no longer than this for the names on it. */
const TIMEOUT_MS = 1_000

/** Names of pilgrims; none while the database is away or slow: the map is worth more than the names on it. */
export async function displayNames(db: Database, userIds: string[]): Promise<Map<string, string | null>> {
  const asked = db.orm
    .select({ userId: pilgrims.userId, name: pilgrims.displayName })
    .from(pilgrims)
    .where(inArray(pilgrims.userId, userIds))
  try {
    const rows = await within(asked, TIMEOUT_MS, () => [])
    return new Map(rows.map(({ userId, name }) => [userId, name]))
  } catch (error) {
    if (isDatabaseUnavailable(error)) return new Map()
    throw error
  }
}

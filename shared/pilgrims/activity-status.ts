/** The activity status. Its row in Postgres is authoritative; each partition of the kv holds a copy. */
import { eq } from 'drizzle-orm'
import { ActivityStatus } from '#shared/contracts/fields.ts'
import type { Database } from '#shared/stores/db/db.ts'
import type { Kv, VersionedStatus } from '#shared/stores/kv/kv.ts'
import { activity } from '#shared/stores/schema/tables.ts'
import { LoggableError } from '#shared/runtime/log.ts'

/** Id of the table's single row. */
export const ACTIVITY_ID = 1

/** Reads the status and its version. */
export async function readStatus(db: Database): Promise<VersionedStatus> {
  const [row] = await db.read(() => db.orm.select().from(activity).where(eq(activity.id, ACTIVITY_ID)))
  if (row === undefined)
    throw new LoggableError('the table of the activity is empty: the database is not migrated')
  return { status: ActivityStatus.parse(row.status), version: row.version, message: row.message }
}

/** From the kv, or from the database where the kv does not have it. */
export const readStatusCopy = async ({
  db,
  kv,
}: {
  readonly db: Database
  readonly kv: Kv
}): Promise<VersionedStatus> => (await kv.status().catch(() => null)) ?? readStatus(db)

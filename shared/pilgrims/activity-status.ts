/** The activity status. Its row in Postgres is authoritative; each partition of the kv holds a copy. */
import { eq } from 'drizzle-orm'
import { ActivityStatus } from '#shared/contracts/fields.ts'
import type { Database } from '#shared/stores/db/db.ts'
import type { Kv, VersionedStatus } from '#shared/stores/kv/kv.ts'
import { activity } from '#shared/stores/schema/operations.ts'
import { readErasures, readHidden } from './kv-copies.ts'
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

/**
 * Copies the status from Postgres to every partition of the kv; an older version never replaces a newer one. A kv
 * that has lost its data is first refilled with the hidden and the erased pilgrims, because it admits points as soon
 * as it has a status.
 */
export async function publishStatus(db: Database, kv: Kv): Promise<VersionedStatus> {
  if ((await kv.status()) === null) await refill(db, kv)
  const status = await readStatus(db)
  await kv.setStatus(status)
  return status
}

async function refill(db: Database, kv: Kv): Promise<void> {
  for (const { userId, refused } of await readHidden(db)) await kv.hide(userId, true, refused)
  await kv.storeErasures(await readErasures(db))
}

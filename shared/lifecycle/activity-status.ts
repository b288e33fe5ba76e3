/** The activity's status: its row in Postgres is the truth, each partition of the kv holds a copy. */
import { eq, or } from 'drizzle-orm'
import { ActivityStatus } from '#shared/contracts/fields.ts'
import type { Database } from '#shared/db/db.ts'
import type { Kv, VersionedStatus } from '#shared/kv/kv.ts'
import { activity, erasures } from '#shared/schema/operations.ts'
import { pilgrims } from '#shared/schema/profiles.ts'
import { LoggableError } from '#shared/runtime/loggable-error.ts'

/** The one row of the table. */
export const ACTIVITY_ID = 1

/** Reads the status with the version of its row. */
export async function readStatus(db: Database): Promise<VersionedStatus> {
  const [row] = await db.read(() => db.orm.select().from(activity).where(eq(activity.id, ACTIVITY_ID)))
  if (row === undefined) throw new LoggableError('the activity has no row: the database is not migrated')
  return { status: ActivityStatus.parse(row.status), version: row.version, message: row.message }
}

/**
 * Brings every partition of the kv to the status that Postgres holds; an older one never replaces a newer. A kv
 * that has lost everything learns first who is off the live map and who was erased: the status opens it.
 */
export async function publishStatus(db: Database, kv: Kv): Promise<VersionedStatus> {
  if ((await kv.status()) === null) await refill(db, kv)
  const status = await readStatus(db)
  await kv.setStatus(status)
  return status
}

async function refill(db: Database, kv: Kv): Promise<void> {
  const rows = await db.read(() =>
    db.orm
      .select({ userId: pilgrims.userId })
      .from(pilgrims)
      .where(or(eq(pilgrims.participantStatus, 'withdrawn'), eq(pilgrims.consentWithdrawn, true))),
  )
  for (const { userId } of rows) await kv.hide(userId, true)
  const erased = await db.read(() => db.orm.select().from(erasures))
  await kv.rememberErased(
    erased.map(({ erasedAt, ...erasure }) => ({ ...erasure, erasedMs: erasedAt.getTime() })),
  )
}

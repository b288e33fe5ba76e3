/** Reads the event's status for answers that are given even when all stores are unavailable. */
import type { ServiceContext } from '#shared/runtime/context.ts'
import type { VersionedStatus } from '#shared/kv/kv.ts'
import { readStatus } from '#shared/lifecycle/activity-status.ts'
import { within } from '#shared/runtime/deadline.ts'

/** The longest time to wait for each store. */
const TIMEOUT_MS = 2_000

/** Reads the status from the kv, or else from the database. Null when neither answers in time. */
export async function statusWithin({ kv, db }: ServiceContext): Promise<VersionedStatus | null> {
  const orNull = (read: Promise<VersionedStatus | null>) =>
    within(
      read.catch(() => null),
      TIMEOUT_MS,
      () => null,
    )
  return (await orNull(kv.status())) ?? (await orNull(readStatus(db)))
}

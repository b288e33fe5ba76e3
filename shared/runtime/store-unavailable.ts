import { isDatabaseUnavailable } from '#shared/db/db.ts'
import { isKvUnavailable } from '#shared/kv/kv.ts'
import { ObjectsUnavailable } from '#shared/objects/objects.ts'

/** Whether a store does not answer. The next try may find it again, and the alerts tell the outage. */
export const isStoreUnavailable = (error: unknown): boolean =>
  isKvUnavailable(error) || isDatabaseUnavailable(error) || error instanceof ObjectsUnavailable

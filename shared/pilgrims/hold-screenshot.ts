/**
 * Unreferenced screenshots are deleted. A lock per screenshot orders references and deletions: a writer of its name
 * takes it shared, a deletion takes it exclusively. So either the name is written first, and the screenshot stays; or
 * the writer sees that the screenshot is gone.
 */
import type { Tx } from '#shared/stores/db/db.ts'
import { type Objects, ObjectsUnavailable } from '#shared/stores/objects/objects.ts'
import { screenshotKey } from '#shared/stores/objects/pictures.ts'
import { within } from '#shared/runtime/deadline.ts'

/** Timeout of the object store within a transaction. */
const LOOK_MS = 2_000

/** Takes the exclusive lock until the transaction ends. */
export async function lockScreenshot(tx: Tx, key: string): Promise<void> {
  await tx.sql`SELECT pg_advisory_xact_lock(hashtextextended(${key}, 0))`
}

/**
 * Keeps a screenshot of this service from being deleted until the transaction ends; then the reference that was written
 * protects it. Other URLs are not checked.
 * @returns false if it is gone; true also while the object store is unavailable
 */
export async function holdScreenshot(
  tx: Tx,
  objects: Objects,
  { publicUrl }: { readonly publicUrl: string },
  url: string,
): Promise<boolean> {
  const ours = `${publicUrl}/api/event/feedback-image/`
  const key = url.startsWith(ours) ? screenshotKey(url.slice(ours.length)) : null
  if (key === null) return true
  await tx.sql`SELECT pg_advisory_xact_lock_shared(hashtextextended(${key}, 0))`
  const looked = objects.head(key).then(
    (found) => found !== null,
    (error: unknown) => {
      if (error instanceof ObjectsUnavailable) return true
      throw error
    },
  )
  return within(looked, LOOK_MS, () => true)
}

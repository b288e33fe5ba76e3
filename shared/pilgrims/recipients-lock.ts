/** The lock for changes of recipients in the message ledger, by pushes and by erasures. */
import { sql } from 'drizzle-orm'
import type { Writer } from '#shared/stores/bus/outbox.ts'

/** Key of the advisory lock. */
const RECIPIENTS_LOCK = 20_260_415

/**
 * Takes the exclusive lock until the transaction ends. Call it before recipients are selected: concurrent pushes then
 * see each other's use of the quota, and no erased person is selected.
 */
export async function lockRecipients(tx: Writer): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${RECIPIENTS_LOCK})`)
}

/** Who writes recipients into the ledger of messages, and who takes an erased person out of it, take turns. */
import { sql } from 'drizzle-orm'
import type { Writer } from '#shared/bus/outbox.ts'

/** Any number that every replica agrees on. */
const RECIPIENTS = 20_260_415

/**
 * One at a time until the transaction ends. Before recipients are chosen: of two planners each sees what the other one
 * has taken of the quota, and nobody is chosen who is erased before the message is written down.
 */
export async function lockRecipients(tx: Writer): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${RECIPIENTS})`)
}

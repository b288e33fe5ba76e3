/** The audit log records every admin write in the transaction of the write. */
import type { Operator } from './admin-auth.ts'
import type { AuditRole } from '#shared/contracts/audit.ts'
import type { Tx } from '#shared/stores/db/db.ts'
import { auditLog } from '#shared/stores/schema/tables.ts'

/** An operator in one request. */
export interface Acting extends Operator {
  readonly requestId: string
}

/** The author of a write: an operator, or a pilgrim who erases their own data. */
export type Actor = Omit<Acting, 'role' | 'level'> & { readonly role: AuditRole }

export async function audit(
  tx: Tx,
  { role, name, fingerprint, requestId }: Actor,
  action: string,
  details: Record<string, unknown>,
  nowMs: number,
): Promise<void> {
  await tx.orm.insert(auditLog).values({
    at: new Date(nowMs),
    role,
    tokenName: name,
    tokenFingerprint: fingerprint,
    action,
    details,
    requestId,
  })
}

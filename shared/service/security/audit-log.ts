/** The audit log records every admin write in the transaction of the write. */
import type { Operator } from './admin-auth.ts'
import type { AuditRole } from '#shared/contracts/audit.ts'
import type { Writer } from '#shared/stores/bus/outbox.ts'
import { auditLog } from '#shared/stores/schema/tables.ts'

export type Actor = Pick<Operator, 'name' | 'fingerprint'> & { readonly role: AuditRole }

export async function audit(
  tx: Writer,
  operator: Actor,
  action: string,
  details: Record<string, unknown>,
  requestId: string,
  nowMs: number,
): Promise<void> {
  await tx.insert(auditLog).values({
    at: new Date(nowMs),
    role: operator.role,
    tokenName: operator.name,
    tokenFingerprint: operator.fingerprint,
    action,
    details,
    requestId,
  })
}

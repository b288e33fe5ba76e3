/** The audit log, latest first. */
import { desc, lt } from 'drizzle-orm'
import { z } from 'zod'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { type PageQuery, Role, time } from '#shared/contracts/fields.ts'
import { decodeCursor, encodeCursor, pageOf } from '#shared/http/pagination.ts'
import { auditLog } from '#shared/schema/operations.ts'

const LIST = 'audit'

export async function listAudit({ db }: ServiceContext, { limit, cursor }: PageQuery) {
  const before = cursor === undefined ? null : decodeCursor(LIST, cursor, z.tuple([z.int()]))[0]
  const rows = await db.read(() =>
    db.orm
      .select()
      .from(auditLog)
      .where(before === null ? undefined : lt(auditLog.id, before))
      .orderBy(desc(auditLog.id))
      .limit(limit + 1),
  )
  return pageOf(
    rows,
    limit,
    (row) => ({
      id: row.id,
      at: time(row.at.getTime()),
      role: Role.parse(row.role),
      token_name: row.tokenName,
      token_fingerprint: row.tokenFingerprint,
      action: row.action,
      details: row.details as Record<string, unknown>,
      request_id: row.requestId,
    }),
    (row) => encodeCursor(LIST, [row.id]),
  )
}

/** The audit log, latest first. */
import { and, desc, eq, gte, lt, or, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { ServiceContext } from '#shared/service/context.ts'
import { time } from '#shared/contracts/fields.ts'
import { type AuditQuery, AuditRole } from '#shared/contracts/audit.ts'
import { readPage } from '#shared/service/http/pagination.ts'
import { auditLog, pilgrims } from '#shared/stores/schema/tables.ts'

const conditionsOf = ({ action, token_name, since, until, search }: AuditQuery) => [
  action === undefined ? undefined : eq(auditLog.action, action),
  token_name === undefined ? undefined : eq(auditLog.tokenName, token_name),
  since === undefined ? undefined : gte(auditLog.at, new Date(since)),
  until === undefined ? undefined : lt(auditLog.at, new Date(until)),
  search === undefined
    ? undefined
    : or(
        sql`strpos(lower(${auditLog.details}::text), lower(${JSON.stringify(search).slice(1, -1)})) > 0`,
        sql`strpos(lower(${pilgrims.displayName}), lower(${search})) > 0`,
      ),
]

/** Entries that match every given filter. A cursor continues the list with the same filters. */
export const listAudit = ({ db }: ServiceContext, query: AuditQuery) =>
  readPage(
    'audit',
    [z.int()],
    query,
    (before, limit) =>
      db.read(() =>
        db.orm
          .select({ row: auditLog, displayName: pilgrims.displayName })
          .from(auditLog)
          .leftJoin(pilgrims, eq(pilgrims.userId, sql`${auditLog.details}->>'user_id'`))
          .where(and(...conditionsOf(query), before === null ? undefined : lt(auditLog.id, before[0])))
          .orderBy(desc(auditLog.id))
          .limit(limit),
      ),
    ({ row, displayName }) => ({
      id: row.id,
      at: time(row.at),
      role: AuditRole.parse(row.role),
      token_name: row.tokenName,
      token_fingerprint: row.tokenFingerprint,
      action: row.action,
      details: row.details as Record<string, unknown>,
      display_name: displayName,
      request_id: row.requestId,
    }),
    ({ row }) => [row.id],
  )

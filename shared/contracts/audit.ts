/** The audit log: every write of an operator, each look at and export of pilgrims' data, and pilgrims' own erasures. */
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Instant, page, PageQuery, Role, text, Time } from './fields.ts'

/** Who made an entry: an operator's tier, or a pilgrim who erased their own data. */
export const AuditRole = z.enum([...Role.options, 'pilgrim'])
export type AuditRole = z.infer<typeof AuditRole>

export const AuditEntry = z.object({
  id: z.int(),
  at: Time,
  role: AuditRole,
  token_name: z.string(),
  token_fingerprint: z.string(),
  action: z.string(),
  details: z.record(z.string(), z.unknown()),
  display_name: z
    .string()
    .nullable()
    .describe('Present name of the pilgrim of details.user_id; null: there is none, or without a name'),
  request_id: z.string(),
})
export type AuditEntry = z.infer<typeof AuditEntry>

export const AuditQuery = PageQuery.extend({
  action: text(64).optional().describe('Exactly this action, such as set-status'),
  token_name: text(64).optional(),
  since: Instant.optional(),
  until: Instant.optional().describe('Entries before this time'),
  search: text(128).optional().describe('Part of the details, such as a user id, or of the pilgrim’s name'),
})
export type AuditQuery = z.infer<typeof AuditQuery>

export const auditEndpoint = endpoint({
  id: 'listAudit',
  method: 'GET',
  path: '/api/event/admin/audit',
  service: 'admin',
  summary: 'Every admin write, and every look at or export of pilgrims’ data, newest first',
  access: 'owner',
  query: AuditQuery,
  data: page(AuditEntry),
  errors: [503],
})

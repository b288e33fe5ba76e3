/** The audit log: every write by an operator, each view and export of pilgrims' data, and pilgrims' own erasures. */
import { z } from 'zod'
import { endpointsOf } from './endpoint.ts'
import { Instant, page, PageQuery, Role, text, Time, exampleText } from './fields.ts'

const endpoint = endpointsOf('admin')

/** The author of an entry: an operator's tier, or a pilgrim who erased their own data. */
export const AuditRole = z.enum([...Role.options, 'pilgrim'])
export type AuditRole = z.infer<typeof AuditRole>

export const AuditEntry = z.object({
  id: z.int(),
  at: Time,
  role: AuditRole,
  token_name: exampleText('lin'),
  token_fingerprint: exampleText('5e884898'),
  action: exampleText('set-status'),
  details: z.record(z.string(), z.unknown()),
  display_name: z
    .string()
    .nullable()
    .describe('Present name of the pilgrim of details.user_id; null: there is none, or without a name'),
  request_id: exampleText('0f6f9c1e-6d0b-4c5e-9a55-5a3a2c1f7a10'),
})

export const AuditQuery = PageQuery.extend({
  action: text(64).optional().describe('Exactly this action, such as set-status'),
  token_name: text(64).optional(),
  since: Instant.optional(),
  until: Instant.optional().describe('Entries before this time'),
  search: text(128).optional().describe('Part of the details, such as a user id, or of the pilgrim’s name'),
})
export type AuditQuery = z.infer<typeof AuditQuery>

export const auditEndpoint = endpoint('GET /api/event/admin/audit', {
  id: 'listAudit',
  summary: 'Every admin write, and every look at or export of pilgrims’ data, newest first',
  access: 'owner',
  query: AuditQuery,
  data: page(AuditEntry),
})

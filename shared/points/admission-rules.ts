/** The rules of admission from the configuration. */
import type { Config } from '#shared/runtime/config/config.ts'
import type { AdmissionRules } from '#shared/stores/kv/kv.ts'

export const admissionRules = ({ limits, buffer }: Pick<Config, 'limits' | 'buffer'>): AdmissionRules => ({
  checkin: limits.checkin,
  sync: limits.sync,
  ingest: limits.ingest,
  duplicateMs: buffer.duplicateMs,
  retentionMs: buffer.retentionMs,
  pendingMax: buffer.pendingMax,
})

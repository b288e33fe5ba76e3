/**
 * Admin tokens that owners have created in the console, followed by every process. The table contains only their
 * hashes, so reading it gives no access to the console.
 */
import { isNull } from 'drizzle-orm'
import type { Log } from '#shared/runtime/log.ts'
import type { Database } from '#shared/stores/db/db.ts'
import { followed } from '#shared/stores/repeated-work.ts'
import { adminTokens } from '#shared/stores/schema/tables.ts'

export type MadeToken = typeof adminTokens.$inferSelect

export interface MadeTokens {
  /** Tokens that are not revoked. */
  readonly current: readonly MadeToken[]
  /** Reads them now. Rejects without the database. */
  refresh(): Promise<void>
}

export const NO_TOKENS: MadeTokens = { current: [], refresh: async () => undefined }

export async function followTokens(db: Database, log: Log): Promise<MadeTokens & { stop(): Promise<void> }> {
  let current: readonly MadeToken[] = []
  const refresh = async (): Promise<void> => {
    current = await db.read(() => db.orm.select().from(adminTokens).where(isNull(adminTokens.revokedAt)))
  }
  const { stop } = await followed(log, 'the tokens of operators could not be read', refresh)
  return {
    get current() {
      return current
    },
    refresh,
    stop,
  }
}

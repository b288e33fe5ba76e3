/** Who would receive the alert of an SOS: owners, managers and `EVENT_ALERT_USER_ID`, by LINE and Web Push. */
import type { EmergencyReach } from '#shared/contracts/supervision.ts'
import type { Config } from '#shared/runtime/config/config.ts'
import type { Database } from '#shared/stores/db/db.ts'

export const REACHES_NOBODY = 'an SOS would reach nobody but an open console'

export const reachesNobody = ({ line, web_push: devices }: EmergencyReach): boolean => line + devices === 0

/** @throws when the database is unavailable */
export async function readEmergencyReach({
  config,
  db,
}: {
  readonly config: Pick<Config, 'alertUserId' | 'line' | 'push'>
  readonly db: Pick<Database, 'sql' | 'read'>
}): Promise<EmergencyReach> {
  const [row] = await db.read(
    () => db.sql<[EmergencyReach]>`
    WITH staff AS (
      SELECT user_id FROM role_assignments WHERE role IN ('owner', 'manager')
      UNION SELECT ${config.alertUserId} WHERE ${config.alertUserId} <> ''
    )
    SELECT
      (SELECT count(*)::int FROM staff LEFT JOIN followers f USING (user_id)
       WHERE ${config.line.accessToken !== ''} AND user_id ~ '^U[0-9a-f]{32}$' AND coalesce(f.reachable, true)) AS line,
      (SELECT count(*)::int FROM staff JOIN push_subscriptions USING (user_id) WHERE ${config.push !== null}) AS web_push`,
  )
  return row
}

/** Decides whether a caller may read and erase a pilgrim's own data, and who is told an id that allows it. */
import type { Config } from '#shared/config/config.ts'
import { isAppId } from '#shared/contracts/own-data.ts'
import { forbidden } from '#shared/http/errors.ts'
import { type Operator, ROLE_LEVEL } from './admin-auth.ts'

/**
 * With `EVENT_IDENTITY=line` the router has verified the ID token. With open identity an id proves something only when
 * nobody else can know it. LINE ids and names are known to others, so they open nothing here.
 * @throws Refusal 403 for an id that others may know
 */
export function expectOwnId({ identity }: Pick<Config, 'identity'>, userId: string): void {
  if (identity === 'line' || isAppId(userId)) return
  throw forbidden(
    'This id may be known to others, so it does not open personal data. Ask the organisers, or use the event’s app.',
  )
}

/**
 * Whether an operator is told a pilgrim's id. With open identity the id that an app made opens their phone number and
 * their erasure, which no volunteer may see or do.
 */
export const maySeeId = (
  { identity }: Pick<Config, 'identity'>,
  { level }: Pick<Operator, 'level'>,
  userId: string,
): boolean => level >= ROLE_LEVEL.manager || identity === 'line' || !isAppId(userId)

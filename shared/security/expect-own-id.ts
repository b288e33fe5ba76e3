/** Decides whether a caller may read and erase a pilgrim's own data. */
import type { Config } from '#shared/config/config.ts'
import { isAppId } from '#shared/contracts/own-data.ts'
import { forbidden } from '#shared/http/errors.ts'

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

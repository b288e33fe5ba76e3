/** The configured admin tokens by name, with their last use. */
import { time, timeOrNull } from '#shared/contracts/fields.ts'
import type { TokenInUse } from '#shared/contracts/supervision.ts'
import { peekWithin } from '#shared/points/pending-points.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { fingerprintOf, ROLE_LEVEL, readTokenUse } from '#shared/service/security/admin-auth.ts'

/** Lists the highest tier first. Without the kv the times are null. */
export async function listTokens({ config, kv, now }: ServiceContext): Promise<{
  items: TokenInUse[]
  as_of: string
}> {
  const tokens = config.tokens.map(({ name, role, value }) => ({
    name,
    role,
    fingerprint: fingerprintOf(value),
  }))
  const used = await peekWithin(
    readTokenUse(
      kv,
      tokens.map(({ fingerprint }) => fingerprint),
    ),
  )
  const items = tokens.map((token, i) => ({ ...token, last_used: timeOrNull(used?.[i]) }))
  return {
    items: items.sort((a, b) => ROLE_LEVEL[b.role] - ROLE_LEVEL[a.role] || a.name.localeCompare(b.name)),
    as_of: time(now()),
  }
}

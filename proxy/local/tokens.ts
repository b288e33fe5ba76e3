/** Admin tokens of the embedded run: from the environment, or made at the first start and kept. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Environment } from '#shared/config/config.ts'

const VARIABLES = {
  owner: 'EVENT_ADMIN_TOKEN',
  manager: 'EVENT_MANAGER_TOKEN',
  volunteer: 'EVENT_VOLUNTEER_TOKEN',
} as const
type Tier = keyof typeof VARIABLES

const TIERS = Object.keys(VARIABLES) as Tier[]
const FROM_ENVIRONMENT = '(from the environment)'

/**
 * The tokens as environment variables, and as they may be shown: those of the environment are not.
 * Those that were made are kept in the data directory, readable for its owner only.
 */
export function openTokens(
  dataDir: string,
  env: Environment,
): { readonly env: Environment; readonly shown: Record<Tier, string> } {
  const file = join(dataDir, 'tokens.json')
  const given = (tier: Tier) => env[VARIABLES[tier]]?.trim() || env[`${VARIABLES[tier]}_FILE`]?.trim()
  const kept = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Partial<Record<Tier, string>>)
    : {}
  const made: Partial<Record<Tier, string>> = { ...kept }
  for (const tier of TIERS) if (!given(tier)) made[tier] ??= randomBytes(24).toString('base64url')
  writeFileSync(file, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 })
  chmodSync(file, 0o600)
  const own = TIERS.filter((tier) => !given(tier))
  return {
    env: Object.fromEntries(own.map((tier) => [VARIABLES[tier], made[tier]])),
    shown: Object.fromEntries(
      TIERS.map((tier) => [tier, given(tier) ? FROM_ENVIRONMENT : made[tier]!]),
    ) as Record<Tier, string>,
  }
}

/** Admin tokens of the embedded run: from the environment, or generated at the first start and stored. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Environment } from '#shared/runtime/config/config.ts'

const VARIABLES = {
  owner: 'EVENT_ADMIN_TOKEN',
  manager: 'EVENT_MANAGER_TOKEN',
  volunteer: 'EVENT_VOLUNTEER_TOKEN',
} as const
type Tier = keyof typeof VARIABLES

export const TIERS = Object.keys(VARIABLES) as Tier[]
const FROM_ENVIRONMENT = '(from the environment)'

/**
 * Returns the tokens as environment variables, and as text to show, without those from the environment.
 * Generated tokens are stored in the data directory, readable only by its owner.
 */
export function openTokens(
  dataDir: string,
  env: Environment,
): { readonly env: Environment; readonly shown: Record<Tier, string> } {
  const file = join(dataDir, 'tokens.json')
  const given = (tier: Tier) => env[VARIABLES[tier]]?.trim() || env[`${VARIABLES[tier]}_FILE`]?.trim()
  const stored = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Partial<Record<Tier, string>>)
    : {}
  const generated: Partial<Record<Tier, string>> = { ...stored }
  for (const tier of TIERS) if (!given(tier)) generated[tier] ??= randomBytes(24).toString('base64url')
  writeFileSync(file, `${JSON.stringify(generated, null, 2)}\n`, { mode: 0o600 })
  chmodSync(file, 0o600)
  const own = TIERS.filter((tier) => !given(tier))
  return {
    env: Object.fromEntries(own.map((tier) => [VARIABLES[tier], generated[tier]])),
    shown: Object.fromEntries(
      TIERS.map((tier) => [tier, given(tier) ? FROM_ENVIRONMENT : generated[tier]!]),
    ) as Record<Tier, string>,
  }
}

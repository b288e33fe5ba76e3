/** Admin tokens: three tiers, each of one or several (named) tokens. */
import type { Role } from '#shared/contracts/fields.ts'

export interface Token {
  readonly name: string
  readonly role: Role
  readonly value: string
}

const TIERS = [
  ['EVENT_ADMIN_TOKEN', 'owner'],
  ['EVENT_MANAGER_TOKEN', 'manager'],
  ['EVENT_VOLUNTEER_TOKEN', 'volunteer'],
] as const satisfies readonly (readonly [string, Role])[]

/**
 * Reads `token` or `name:token,name:token` of each tier. An empty variable admits nobody.
 * Pushes a fault for a token that stands in two places, or an empty one in a list.
 */
export function parseTokens(env: Record<(typeof TIERS)[number][0], string>, faults: string[]): Token[] {
  const tokens: Token[] = []
  for (const [variable, role] of TIERS) {
    if (env[variable] === '') continue
    const parts = env[variable].split(',').map((part) => part.trim())
    for (const part of parts) {
      const colon = part.indexOf(':')
      const name = colon > 0 ? part.slice(0, colon) : role
      const value = colon >= 0 ? part.slice(colon + 1) : part
      if (value === '')
        faults.push(`${variable}: holds an empty token; an empty token admits nobody, remove it`)
      else if (tokens.some((other) => other.value === value))
        faults.push(`${variable}: a token may stand in one place only, or its level would be ambiguous`)
      else tokens.push({ name, role, value })
    }
  }
  return tokens
}

/** Admin tokens: three tiers, each with one or several (named) tokens. */
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

/** Minimum length: a shorter token can be guessed. */
const SHORTEST = 16

/**
 * Parses one entry. The text before the first colon is a name if it is shorter than any token, so a token may contain
 * a colon. If both halves could be a token, the entry is ambiguous.
 */
function parseEntry(entry: string): { readonly name: string | null; readonly value: string } | 'ambiguous' {
  const colon = entry.indexOf(':')
  const [before, after] = colon < 0 ? ['', entry] : [entry.slice(0, colon), entry.slice(colon + 1)]
  if (before.length < SHORTEST) return { name: before || null, value: after }
  return after.length < SHORTEST ? { name: null, value: entry } : 'ambiguous'
}

/** Returns the fault of an entry; null: it is valid. */
function faultOf(entry: ReturnType<typeof parseEntry>, tokens: readonly Token[]): string | null {
  if (entry === 'ambiguous')
    return 'which part is the token? A name has at most 15 characters; a token with a colon in it needs a name and a colon before it'
  if (entry.value === '') return 'holds an empty token; an empty token admits nobody, remove it'
  if (entry.value.length < SHORTEST)
    return `a token has at least ${SHORTEST} characters (what stands before a colon is its name); make one with: openssl rand -hex 24`
  return tokens.some(({ value }) => value === entry.value)
    ? 'a token may stand in one place only, or its level would be ambiguous'
    : null
}

/**
 * Parses `token` or `name:token,name:token` of each tier. An empty variable admits nobody.
 * Adds a fault, without the token itself, for a token that is empty, short, ambiguous or repeated.
 */
export function parseTokens(env: Record<(typeof TIERS)[number][0], string>, faults: string[]): Token[] {
  const tokens: Token[] = []
  for (const [variable, role] of TIERS) {
    if (env[variable] === '') continue
    for (const part of env[variable].split(',')) {
      const entry = parseEntry(part.trim())
      const fault = faultOf(entry, tokens)
      if (fault !== null) faults.push(`${variable}: ${fault}`)
      else if (entry !== 'ambiguous') tokens.push({ name: entry.name ?? role, role, value: entry.value })
    }
  }
  return tokens
}

/** Authentication by admin tokens. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Access } from '#shared/contracts/endpoint.ts'
import type { Role } from '#shared/contracts/fields.ts'
import type { Token } from '#shared/runtime/config/setting-values.ts'
import { isRecent } from '#shared/runtime/clock.ts'
import { unauthorized } from '#shared/runtime/refusal.ts'
import type { KvKeys } from '#shared/stores/kv/kv.ts'
import { type MadeTokens, NO_TOKENS } from './made-tokens.ts'

export const ROLE_LEVEL = { volunteer: 1, manager: 2, owner: 3 } as const satisfies Record<Role, number>

/** Minimum level of each kind of access; 0: no token needed. */
export const ACCESS_LEVEL = { public: 0, optional: 0, ...ROLE_LEVEL } as const satisfies Record<
  Access,
  number
>

export interface Operator {
  readonly role: Role
  readonly level: 1 | 2 | 3
  readonly name: string
  /** Identifies the token in the audit log and in limits without revealing it. */
  readonly fingerprint: string
}

/** Maximum delay of the answer to a wrong token; the delay grows with each one from the same address. */
const MAX_DELAY_MS = 2_000
const FORGET_AFTER_MS = 600_000
const MAX_ADDRESSES = 10_000

/** Called for the first, second, fourth, eighth … consecutive wrong token from one address. */
type OnGuess = (address: string, guesses: number) => void

const digest = (value: string): Buffer => createHash('sha256').update(value).digest()

/** SHA-256 of a token, in hex. */
export const hashOf = (value: string): string => digest(value).toString('hex')

export const fingerprintOf = (value: string): string => hashOf(value).slice(0, 12)

export interface Auth {
  /** Returns the operator of a token; null without a token. @throws Refusal 401 for a wrong one, after a delay */
  authenticate(token: string | null, address: string): Promise<Operator | null>
  /** Tokens created by owners. */
  readonly made: MadeTokens
}

/** Compares in constant time with every known token. Without any tokens, every one is wrong. */
export function createAuth(
  tokens: readonly Token[],
  now: () => number,
  onGuess: OnGuess = () => undefined,
  sleep: (ms: number) => Promise<void> = Bun.sleep,
  made: MadeTokens = NO_TOKENS,
): Auth {
  const known = tokens.map(({ name, role, value }) => {
    const hash = digest(value)
    const operator: Operator = { role, level: ROLE_LEVEL[role], name, fingerprint: fingerprintOf(value) }
    return { hash, operator }
  })
  const guesses = new Map<string, { count: number; ms: number }>()

  const delay = (address: string): number => {
    const last = guesses.get(address)
    const count = last !== undefined && isRecent(last.ms, now(), FORGET_AFTER_MS) ? last.count + 1 : 1
    // Reinserting makes the address the most recent one; the least recent one is evicted.
    guesses.delete(address)
    if (guesses.size >= MAX_ADDRESSES) guesses.delete(guesses.keys().next().value!)
    guesses.set(address, { count, ms: now() })
    if (Number.isInteger(Math.log2(count))) onGuess(address, count)
    return count <= 2 ? 0 : Math.min(50 * 2 ** (count - 3), MAX_DELAY_MS)
  }

  return {
    made,
    async authenticate(token, address) {
      if (token === null || token === '') return null
      const hash = digest(token)
      let operator: Operator | null = null
      for (const candidate of known) if (timingSafeEqual(candidate.hash, hash)) operator = candidate.operator
      for (const { hash: other, name, role, fingerprint } of made.current)
        if (timingSafeEqual(Buffer.from(other, 'hex'), hash))
          operator = { role, level: ROLE_LEVEL[role], name, fingerprint }
      if (operator !== null) return operator
      await sleep(delay(address))
      throw unauthorized('The X-Admin-Token is not valid: check it, or ask the owner for a new one.')
    },
  }
}

// When each admin token was last used, to the minute: in the kv, by the token's fingerprint.

const EVERY_MS = 60_000
const KEPT_MS = 10 * 365 * 86_400_000

const keyOf = (fingerprint: string): string => `token-used:${fingerprint}`

/** Records each use of a valid token. A failure to record it does not affect the request. */
export function withTokenUse(auth: Auth, kv: KvKeys, now: () => number): Auth {
  const recorded = new Map<string, number>()
  return {
    made: auth.made,
    async authenticate(token, address) {
      const operator = await auth.authenticate(token, address)
      if (operator === null) return null
      const nowMs = now()
      if (!isRecent(recorded.get(operator.fingerprint) ?? 0, nowMs, EVERY_MS)) {
        recorded.set(operator.fingerprint, nowMs)
        kv.cache(keyOf(operator.fingerprint), String(nowMs), KEPT_MS).catch(() =>
          recorded.delete(operator.fingerprint),
        )
      }
      return operator
    },
  }
}

/** Epoch milliseconds of the last use of each token, in order; null: none is known. @throws KvUnavailable */
export async function readTokenUse(kv: KvKeys, fingerprints: readonly string[]): Promise<(number | null)[]> {
  const found = await Promise.all(fingerprints.map((fingerprint) => kv.cached(keyOf(fingerprint))))
  return found.map((value) => (value === null ? null : Number(value)))
}

/** When each admin token was last used, to the minute: in the kv, by the token's fingerprint. */
import type { Kv } from '#shared/kv/kv.ts'
import type { Auth } from './admin-auth.ts'

/** A use within this time of the last recorded one is not recorded again. */
const EVERY_MS = 60_000
const KEPT_MS = 10 * 365 * 86_400_000

const keyOf = (fingerprint: string): string => `token-used:${fingerprint}`

/** Records each use of a valid token. A failure to record it does not affect the request. */
export function withTokenUse(auth: Auth, kv: Kv, now: () => number): Auth {
  const recorded = new Map<string, number>()
  return {
    async authenticate(token, address) {
      const operator = await auth.authenticate(token, address)
      if (operator === null) return null
      const nowMs = now()
      if (nowMs - (recorded.get(operator.fingerprint) ?? -Infinity) >= EVERY_MS) {
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
export async function readTokenUse(kv: Kv, fingerprints: readonly string[]): Promise<(number | null)[]> {
  const found = await Promise.all(fingerprints.map((fingerprint) => kv.cached(keyOf(fingerprint))))
  return found.map((value) => (value === null ? null : Number(value)))
}

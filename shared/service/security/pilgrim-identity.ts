/** Verifies that a caller is the pilgrim whose id they send. */
import { createRemoteJWKSet, errors, jwtVerify } from 'jose'
import type { Config } from '#shared/runtime/config/config.ts'
import { forbidden, Refusal, unauthorized, unavailable } from '#shared/runtime/refusal.ts'
import { time } from '#shared/contracts/fields.ts'

/** Base URL of LINE's API; `LINE_API_BASE_URL` overrides it. */
const LINE_API = 'https://api.line.me'
const ISSUER = 'https://access.line.me'

/** @throws Refusal 401 without a valid token, 403 for another user's token, 503 if keys cannot be fetched */
export type CheckIdentity = (request: Request, userId: string) => Promise<void>

/** With `open`, any user id is accepted; with `line`, it must be the subject of a LIFF ID token. */
export function createIdentity({ identity, line }: Pick<Config, 'identity' | 'line'>): CheckIdentity {
  if (identity === 'open') return async () => undefined
  // Fetches the keys once, caches them, and fetches them again for an unknown key id.
  const keys = createRemoteJWKSet(new URL('/oauth2/v2.1/certs', line.apiBaseUrl || LINE_API), {
    timeoutDuration: 3_000,
    cooldownDuration: 30_000,
  })
  return async (request, userId) => {
    const token = /^Bearer (\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
    if (token === undefined) throw unauthorized('This needs an Authorization header with a LIFF ID token.')
    const subject = await subjectOf(token, keys, line.loginChannelId)
    if (subject !== userId) throw forbidden('The ID token belongs to another user.')
  }
}

/**
 * Whether a caller has proved to be the pilgrim by a valid ID token, where that is optional. False for an expired
 * token, another user's token, or one that cannot be verified now, and always with `open`.
 */
export async function provesIdentity(
  {
    config,
    checkIdentity,
  }: { readonly config: Pick<Config, 'identity'>; readonly checkIdentity: CheckIdentity },
  request: Request,
  userId: string,
): Promise<boolean> {
  if (config.identity === 'open' || !request.headers.has('authorization')) return false
  try {
    await checkIdentity(request, userId)
    return true
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}

async function subjectOf(
  token: string,
  keys: ReturnType<typeof createRemoteJWKSet>,
  audience: string,
): Promise<string | undefined> {
  try {
    const { payload } = await jwtVerify(token, keys, {
      algorithms: ['ES256'],
      issuer: ISSUER,
      audience,
      requiredClaims: ['exp', 'sub'],
    })
    return payload.sub
  } catch (error) {
    if (error instanceof errors.JWTExpired)
      throw unauthorized('The ID token has expired: open the page in LINE again.')
    if (
      error instanceof errors.JWKSTimeout ||
      !(error instanceof errors.JOSEError) ||
      // The key set's response was not a key set.
      error.code === 'ERR_JOSE_GENERIC'
    )
      throw unavailable('The keys of LINE cannot be fetched: please try again in a moment.')
    throw unauthorized('The ID token is not valid: open the page in LINE again.')
  }
}

const HOUR_MS = 3_600_000

/** A time from a pilgrim's device: while identity is open rounded to whole hours, because others may know the id. */
export const timeOfDevice = ({ identity }: Pick<Config, 'identity'>, ms: number): string =>
  time(identity === 'line' ? ms : ms - (ms % HOUR_MS))

/** Whether a caller is the pilgrim in whose name they call. */
import { createRemoteJWKSet, errors, jwtVerify } from 'jose'
import type { Config } from '#shared/config/config.ts'
import { forbidden, Refusal, unauthorized, unavailable } from '#shared/http/errors.ts'

/** LINE's API; `LINE_API_BASE_URL` names another one. */
const LINE_API = 'https://api.line.me'
const ISSUER = 'https://access.line.me'

/** @throws Refusal 401 without a valid token, 403 when it is somebody else's, 503 when keys can not be had */
export type CheckIdentity = (request: Request, userId: string) => Promise<void>

/** With `open` the user id is believed; with `line` it must be the subject of a LIFF ID token. */
export function createIdentity({ identity, line }: Pick<Config, 'identity' | 'line'>): CheckIdentity {
  if (identity === 'open') return async () => undefined
  // Fetched once, cached, and fetched again for a key id that is not known.
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
 * Whether a caller who need not prove it is the pilgrim: by a valid ID token of theirs. An expired token, somebody
 * else's, and one that can not be verified just now prove nothing; with `open` nothing does.
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
      // The answer to a fetch of keys that was not the keys.
      error.code === 'ERR_JOSE_GENERIC'
    )
      throw unavailable('LINE’s keys can not be fetched just now: please try again in a moment.')
    throw unauthorized('The ID token is not valid: open the page in LINE again.')
  }
}

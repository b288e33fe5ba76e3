/**
 * LINE as the real SDK sees it in a browser: log-in, tokens and keys, served inside Chromium. It rejects what
 * LINE rejects, and unknown URLs fail.
 *
 * Its clock is simulated, while the service uses the real one. {@link LineLogin.translate} shifts the times
 * of a token on its way to the service: a token that has expired for the phone has expired for the service.
 */
import { createHash } from 'node:crypto'
import { exportJWK, generateKeyPair, SignJWT, decodeJwt, type JWTPayload } from 'jose'
import type { BrowserContext, Route } from 'playwright-core'
import type { Environment } from '#shared/runtime/config/config.ts'

const CHANNEL = '1234567890'
export const LIFF_ID = `${CHANNEL}-abcdefgh`
const HOUR_S = 3_600
const CODE_LIFE_MS = 600_000
/** The only hosts that the SDK contacts. */
const HOSTS = /^https:\/\/([\w-]+\.)*(line\.me|line-scdn\.net|line-apps\.com)\//

const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
const JWK = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }

interface Code {
  readonly challenge: string
  readonly redirectUri: string
  readonly givenMs: number
}
interface Answer {
  readonly status?: number
  readonly json?: object
  readonly location?: string
}
const refuse = (error: string, error_description = error): Answer => ({
  status: 400,
  json: { error, error_description },
})

export class LineLogin implements Disposable {
  /** The time by LINE's clock, which a test may set. */
  nowMs: () => number = Date.now
  online: () => boolean = () => true
  /** URL of the LIFF app; LINE redirects nowhere else. */
  endpointUrl = ''
  /** Requests to unexpected LINE URLs. */
  readonly unknown: string[] = []
  /** Violations of a page's content policy. */
  readonly violations: string[] = []
  /** Number of log-ins that returned a token. */
  logIns = 0
  readonly #codes = new Map<string, Code>()
  readonly #accessTokens = new Map<string, number>()
  /** Serves the keys to the service. */
  readonly #server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => Response.json({ keys: [JWK] }),
  })

  constructor(
    /** The user who logs in. */
    public userId: string,
    readonly name: string,
  ) {}

  get settings(): Environment {
    return {
      EVENT_IDENTITY: 'line',
      LINE_LOGIN_CHANNEL_ID: CHANNEL,
      LINE_LIFF_ID: LIFF_ID,
      LINE_API_BASE_URL: `http://127.0.0.1:${this.#server.port}`,
    }
  }

  /** An ID token valid for an hour. @param ageS seconds since LINE signed it */
  token(ageS = 0, userId = this.userId): Promise<string> {
    const iat = Math.floor(this.nowMs() / 1_000) - ageS
    return signed({
      iss: 'https://access.line.me',
      aud: CHANNEL,
      sub: userId,
      name: this.name,
      iat,
      exp: iat + HOUR_S,
    })
  }

  /** The same token with the service's time. */
  async translate(token: string): Promise<string> {
    const { iat = 0, exp = 0, ...claims } = decodeJwt(token)
    const aheadS = Math.floor((Date.now() - this.nowMs()) / 1_000)
    return signed({ ...claims, iat: iat + aheadS, exp: exp + aheadS })
  }

  /** Serves LINE to all pages of a context, and the service with the real clock. */
  async serve(context: BrowserContext): Promise<void> {
    await context.exposeFunction('noteViolation', (text: string) => void this.violations.push(text))
    await context.addInitScript(() => {
      const { noteViolation } = globalThis as unknown as { noteViolation: (text: string) => void }
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) =>
        noteViolation(`${effectiveDirective} ${blockedURI}`),
      )
    })
    await context.route('**/api/event/**', async (route) => {
      const headers = route.request().headers()
      const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1]
      await route.continue(
        token === undefined
          ? {}
          : { headers: { ...headers, authorization: `Bearer ${await this.translate(token)}` } },
      )
    })
    await context.route(HOSTS, async (route) => {
      if (!this.online()) return route.abort('internetdisconnected')
      const answer = await this.#answer(route)
      if (answer === null) {
        this.unknown.push(`${route.request().method()} ${route.request().url()}`)
        return route.abort()
      }
      const { status = 200, json = {}, location } = answer
      return location === undefined
        ? route.fulfill({ status, json })
        : route.fulfill({ status: 302, headers: { location } })
    })
  }

  async #answer(route: Route): Promise<Answer | null> {
    const request = route.request()
    const { host, pathname, searchParams } = new URL(request.url())
    switch (`${request.method()} ${host}${pathname}`) {
      case 'GET access.line.me/liff/v1/authorize':
        return this.#authorize(searchParams)
      case 'POST api.line.me/oauth2/v2.1/token':
        return this.#exchange(new URLSearchParams(request.postData() ?? ''))
      case 'GET api.line.me/oauth2/v2.1/certs':
        return { json: { keys: [JWK] } }
      case 'GET api.line.me/oauth2/v2.1/verify':
        return this.#isValid(searchParams.get('access_token'))
          ? { json: { client_id: CHANNEL, expires_in: HOUR_S, scope: 'openid profile' } }
          : refuse('invalid_request', 'access token expired')
      case `GET api.line.me/liff/v2/apps/${LIFF_ID}/contextToken`:
        return this.#context(request.headers().authorization)
      // Inside LINE, its app opens the URL.
      case `GET liff.line.me/${LIFF_ID}`:
        return { location: await this.addressInLine() }
      default:
        return null
    }
  }

  /** The LIFF app's URL as LINE's app opens it, with new tokens. */
  async addressInLine(): Promise<string> {
    this.logIns++
    const tokens = {
      access_token: this.#accessToken(),
      context_token: contextToken(this.endpointUrl),
      feature_token: 'features',
      id_token: await this.token(),
      client_id: CHANNEL,
    }
    return `${this.endpointUrl}#${new URLSearchParams(tokens)}`
  }

  #isValid(accessToken: string | null): boolean {
    return this.nowMs() < (this.#accessTokens.get(accessToken ?? '') ?? 0)
  }

  #authorize(asked: URLSearchParams): Answer {
    const redirectUri = asked.get('redirect_uri') ?? this.endpointUrl
    const challenge = asked.get('code_challenge') ?? ''
    const isComplete =
      asked.get('app_id') === LIFF_ID &&
      asked.get('response_type') === 'code' &&
      asked.get('code_challenge_method') === 'S256' &&
      /^[\w-]{43}$/.test(challenge) &&
      (asked.get('state') ?? '') !== ''
    // Rejects a URL outside the LIFF app and, as in RFC 6749, one with a fragment.
    if (!isComplete || !redirectUri.startsWith(this.endpointUrl) || redirectUri.includes('#'))
      return refuse('400 Bad Request')
    const code = crypto.randomUUID()
    this.#codes.set(code, { challenge, redirectUri, givenMs: this.nowMs() })
    const back = new URL(redirectUri)
    const added = {
      code,
      state: asked.get('state')!,
      liffClientId: CHANNEL,
      liffRedirectUri: redirectUri,
    }
    for (const [name, value] of Object.entries(added)) back.searchParams.append(name, value)
    return { location: back.href }
  }

  async #exchange(form: URLSearchParams): Promise<Answer> {
    const code = form.get('code') ?? ''
    const given = this.#codes.get(code)
    // A code is valid once.
    this.#codes.delete(code)
    const verifier = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (form.get('grant_type') !== 'authorization_code' || form.get('client_id') !== CHANNEL)
      return refuse('invalid_request')
    if (given === undefined || this.nowMs() - given.givenMs > CODE_LIFE_MS)
      return refuse('invalid_grant', 'authorization code not found or expired')
    if (verifier !== given.challenge) return refuse('invalid_grant', 'code_verifier does not match')
    if (form.get('redirect_uri') !== given.redirectUri)
      return refuse('invalid_grant', 'redirect_uri does not match')
    this.logIns++
    return {
      json: {
        access_token: this.#accessToken(),
        token_type: 'Bearer',
        expires_in: 12 * HOUR_S,
        scope: 'openid profile',
        id_token: await this.token(),
      },
    }
  }

  #accessToken(): string {
    const token = crypto.randomUUID()
    this.#accessTokens.set(token, this.nowMs() + 12 * HOUR_S * 1_000)
    return token
  }

  /** The context of the LIFF app; with a token, for its user. */
  #context(authorization: string | undefined): Answer {
    if (authorization !== undefined && !this.#isValid(authorization.replace('Bearer ', '')))
      return { status: 401, json: { error: 'invalid_token' } }
    return { json: { contextToken: contextToken(this.endpointUrl) } }
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true)
  }
}

const signed = (claims: JWTPayload): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(privateKey)

/** The SDK reads only its payload. */
function contextToken(endpointUrl: string): string {
  const context = {
    type: 'external',
    liffId: LIFF_ID,
    endpointUrl,
    permanentLinkPattern: 'concat',
    availability: {},
  }
  return `e30.${Buffer.from(JSON.stringify(context)).toString('base64url')}.none`
}

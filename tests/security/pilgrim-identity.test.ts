/**
 * Identification of callers with `EVENT_IDENTITY=line`: LIFF ID tokens, verified with a key set served like
 * LINE's.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { Refusal } from '#shared/runtime/refusal.ts'
import { type CheckIdentity, createIdentity } from '#shared/service/security/pilgrim-identity.ts'

const CHANNEL = '1234567890'
const USER = `U${'a'.repeat(32)}`

interface Signer {
  readonly kid: string
  readonly key: CryptoKey
  readonly jwk: JWK
}

const newSigner = async (kid: string): Promise<Signer> => {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
  return { kid, key: privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' } }
}

let published: Signer[] = []
let fetches = 0
let answers = true
let server: Bun.Server<undefined>
let first: Signer
let check: CheckIdentity

beforeAll(async () => {
  first = await newSigner('first')
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      expect(new URL(request.url).pathname).toBe('/oauth2/v2.1/certs')
      fetches++
      return answers
        ? Response.json({ keys: published.map(({ jwk }) => jwk) })
        : new Response('out of order', { status: 500 })
    },
  })
})
afterAll(() => server?.stop(true))
beforeEach(() => {
  published = [first]
  fetches = 0
  answers = true
  check = createIdentity({
    identity: 'line',
    line: {
      channelSecret: '',
      accessToken: '',
      liffId: '',
      loginChannelId: CHANNEL,
      apiBaseUrl: `http://127.0.0.1:${server.port}`,
      dataApiBaseUrl: '',
    },
  })
})

interface Claims {
  readonly issuer?: string
  readonly audience?: string
  readonly expires?: string
  readonly subject?: string
  readonly signer?: Signer
}

const token = ({
  issuer = 'https://access.line.me',
  audience = CHANNEL,
  expires = '1h',
  subject = USER,
  signer = first,
}: Claims = {}) =>
  new SignJWT({ name: 'somebody' })
    .setProtectedHeader({ alg: 'ES256', kid: signer.kid })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(subject)
    .setIssuedAt()
    .setExpirationTime(expires)
    .sign(signer.key)

const call = (authorization: string | null) =>
  new Request('https://event.test/', {
    headers: authorization === null ? {} : { Authorization: authorization },
  })

/** Status of the refusal; null if the caller is accepted. */
async function refusal(authorization: string | null, userId = USER): Promise<number | null> {
  try {
    await check(call(authorization), userId)
    return null
  } catch (error) {
    if (error instanceof Refusal) return error.httpStatus
    throw error
  }
}

describe('a LIFF ID token', () => {
  test('of the pilgrim is accepted', async () => {
    expect(await refusal(`Bearer ${await token()}`)).toBeNull()
  })

  test('of another person gets 403', async () => {
    expect(await refusal(`Bearer ${await token({ subject: 'U-other' })}`)).toBe(403)
  })

  test('missing, or with another scheme, gets 401', async () => {
    expect(await refusal(null)).toBe(401)
    expect(await refusal(`Basic ${await token()}`)).toBe(401)
    expect(await refusal('Bearer ')).toBe(401)
  })

  test.each([
    ['expired', { expires: '-1s' }],
    ['for another audience', { audience: '999' }],
    ['of another issuer', { issuer: 'https://access.example' }],
  ] as const)('%s is 401', async (_, claims) => {
    expect(await refusal(`Bearer ${await token(claims)}`)).toBe(401)
  })

  test('changed after signing gets 401', async () => {
    const [head, , signature] = (await token()).split('.')
    const body = Buffer.from(
      JSON.stringify({ iss: 'https://access.line.me', aud: CHANNEL, sub: 'U-other', exp: 4_000_000_000 }),
    ).toString('base64url')
    expect(await refusal(`Bearer ${head}.${body}.${signature}`, 'U-other')).toBe(401)
    const unsigned = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url')
    expect(await refusal(`Bearer ${unsigned}.${body}.`, 'U-other')).toBe(401)
  })

  const inSeconds = (afterMs: number) => Math.floor((Date.now() + afterMs) / 1_000)
  const RIGHT = { iss: 'https://access.line.me', aud: CHANNEL, sub: USER, exp: inSeconds(3_600_000) }
  const without = (name: keyof typeof RIGHT) =>
    Object.fromEntries(Object.entries(RIGHT).filter(([key]) => key !== name))
  const signed = (claims: object, header: object = {}, key: CryptoKey | Uint8Array = first.key) =>
    new SignJWT(claims as Record<string, unknown>)
      .setProtectedHeader({ alg: 'ES256', kid: 'first', ...header })
      .sign(key)

  test.each<[what: string, forge: () => Promise<string> | string]>([
    ['an access token', () => 'eyJhbGciOiJIUzI1NiJ9.UnQ_o-GP0VtnwDjbK0C8E_NvK'],
    [
      'an ID token of a web login, signed with the channel’s secret',
      () => signed(RIGHT, { alg: 'HS256' }, new TextEncoder().encode('secret of the channel, 32 digits')),
    ],
    [
      'one signed with the published key as a secret',
      () => signed(RIGHT, { alg: 'HS256' }, new TextEncoder().encode(JSON.stringify(first.jwk))),
    ],
    [
      'one that brings its own key',
      async () => {
        const own = await newSigner('own')
        return signed(RIGHT, { kid: undefined, jwk: own.jwk }, own.key)
      },
    ],
    [
      'one that names a key set of its own',
      async () => signed(RIGHT, { kid: 'own', jku: 'http://127.0.0.1:1/keys' }, (await newSigner('own')).key),
    ],
    ['one without an end', () => signed(without('exp'))],
    ['one without a person', () => signed(without('sub'))],
    ['one without an audience', () => signed(without('aud'))],
    ['one of a later time', () => signed({ ...RIGHT, nbf: inSeconds(600_000) })],
    ['two in one', async () => `${await signed(RIGHT)}.${await signed(RIGHT)}`],
  ])('%s gets 401, whoever it is of', async (_, forge) => {
    expect(await refusal(`Bearer ${await forge()}`)).toBe(401)
    expect(await refusal(`Bearer ${await signed(RIGHT)}`)).toBeNull()
  })

  test('of a list of persons, or of none, is nobody’s', async () => {
    for (const sub of [[USER], '', null, 0, { id: USER }])
      expect(await refusal(`Bearer ${await signed({ ...RIGHT, sub })}`)).not.toBeNull()
  })

  test('signed by an unpublished key of the same id gets 401', async () => {
    expect(await refusal(`Bearer ${await token({ signer: await newSigner('first') })}`)).toBe(401)
  })
})

describe('the key set', () => {
  test('is fetched once for many calls', async () => {
    const authorization = `Bearer ${await token()}`
    for (let i = 0; i < 20; i++) expect(await refusal(authorization)).toBeNull()
    expect(fetches).toBe(1)
  })

  test('is fetched again for an unknown key id, but not for each guess', async () => {
    expect(await refusal(`Bearer ${await token()}`)).toBeNull()
    const stranger = await newSigner('stranger')
    for (let i = 0; i < 10; i++)
      expect(await refusal(`Bearer ${await token({ signer: stranger })}`)).toBe(401)
    expect(fetches).toBeLessThanOrEqual(2)
  })

  test('that is unreachable gives 503, and works when it is back', async () => {
    answers = false
    expect(await refusal(`Bearer ${await token()}`)).toBe(503)
    answers = true
    expect(await refusal(`Bearer ${await token()}`)).toBeNull()
  })
})

test('with EVENT_IDENTITY=open the user id is accepted without proof', async () => {
  const open = createIdentity({
    identity: 'open',
    line: {
      channelSecret: '',
      accessToken: '',
      liffId: '',
      loginChannelId: '',
      apiBaseUrl: '',
      dataApiBaseUrl: '',
    },
  })
  await open(call(null), USER)
  expect(fetches).toBe(0)
})

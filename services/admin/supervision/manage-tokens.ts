/** Admin tokens: those of the environment and those that owners make and revoke in the console. */
import { randomBytes } from 'node:crypto'
import { and, eq, isNull } from 'drizzle-orm'
import { time, timeOrNull } from '#shared/contracts/fields.ts'
import {
  MAX_MADE_TOKENS,
  type MadeToken,
  type MakeTokenRequest,
  type TokenInUse,
} from '#shared/contracts/supervision.ts'
import { peekWithin } from '#shared/points/pending-points.ts'
import { conflict, notFound } from '#shared/runtime/refusal.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { fingerprintOf, hashOf, ROLE_LEVEL, readTokenUse } from '#shared/service/security/admin-auth.ts'
import { type Acting, audit } from '#shared/service/security/audit-log.ts'
import { adminTokens } from '#shared/stores/schema/tables.ts'

type Known = Omit<TokenInUse, 'last_used'>

const knownTokens = ({ auth, config }: Pick<ServiceContext, 'auth' | 'config'>): Known[] => [
  ...config.tokens.map(({ name, role, value }) => ({
    name,
    role,
    fingerprint: fingerprintOf(value),
    made_at: null,
    made_by: null,
  })),
  ...auth.made.current.map(({ name, role, fingerprint, createdAt, createdBy }) => ({
    name,
    role,
    fingerprint,
    made_at: createdAt.toISOString(),
    made_by: createdBy,
  })),
]

/** Lists the tokens, highest tier first. Without the kv the times of use are null. */
export async function listTokens(context: ServiceContext): Promise<{ items: TokenInUse[]; as_of: string }> {
  const tokens = knownTokens(context)
  const used = await peekWithin(
    readTokenUse(
      context.kv,
      tokens.map(({ fingerprint }) => fingerprint),
    ),
  )
  const items = tokens.map((token, i) => ({ ...token, last_used: timeOrNull(used?.[i]) }))
  return {
    items: items.sort((a, b) => ROLE_LEVEL[b.role] - ROLE_LEVEL[a.role] || a.name.localeCompare(b.name)),
    as_of: time(context.now()),
  }
}

/** 24 bytes are 192 random bits. */
const TOKEN_BYTES = 24

/**
 * Creates a token, which appears only in this response.
 * @throws Refusal 409 if another token has the name, or beyond {@link MAX_MADE_TOKENS}
 */
export async function makeToken(
  context: ServiceContext,
  operator: Acting,
  { name, role }: MakeTokenRequest,
): Promise<MadeToken> {
  const { auth, config, db, now } = context
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  const fingerprint = fingerprintOf(token)
  await db.transaction(async (tx) => {
    await tx.orm.execute('LOCK TABLE admin_tokens IN EXCLUSIVE MODE')
    const made = await tx.orm.select().from(adminTokens).where(isNull(adminTokens.revokedAt))
    if ([...config.tokens, ...made].some((existing) => existing.name === name))
      throw conflict(`Another token has the name ${name}: the audit log tells tokens apart by their names.`)
    if (made.length >= MAX_MADE_TOKENS)
      throw conflict(`There are ${MAX_MADE_TOKENS} tokens: revoke one that is not used any more.`)
    await tx.orm.insert(adminTokens).values({
      fingerprint,
      hash: hashOf(token),
      name,
      role,
      createdAt: new Date(now()),
      createdBy: operator.name,
    })
    await audit(tx, operator, 'make-token', { name, role, fingerprint }, now())
  })
  // The token is stored and shown only once, so a failed refresh must not fail the call; the next refresh
  // follows in two seconds.
  await auth.made.refresh().catch(() => undefined)
  return { name, role, fingerprint, token }
}

/**
 * Revokes a token that was created in the console. Every process rejects it within seconds.
 * @throws Refusal 404 for any other fingerprint, such as that of a token of the environment
 */
export async function revokeToken(
  { auth, db, now }: ServiceContext,
  operator: Acting,
  fingerprint: string,
): Promise<{ revoked: true }> {
  await db.transaction(async (tx) => {
    const [revoked] = await tx.orm
      .update(adminTokens)
      .set({ revokedAt: new Date(now()) })
      .where(and(eq(adminTokens.fingerprint, fingerprint), isNull(adminTokens.revokedAt)))
      .returning()
    if (revoked === undefined) throw notFound('No token that was made in the console has this fingerprint.')
    await audit(tx, operator, 'revoke-token', { name: revoked.name, role: revoked.role, fingerprint }, now())
  })
  // The token is revoked even if this process rejects it only at the next refresh.
  await auth.made.refresh().catch(() => undefined)
  return { revoked: true }
}

/**
 * Checks a request in a fixed order: route, method, size, authentication, rate limit, validation, then the handler's
 * own checks (status, existence). Elysia's hooks would validate before they authenticate, so they are not used.
 */
import { z } from 'zod'
import { readStatusCopy } from '#shared/pilgrims/activity-status.ts'
import { ACCESS_LEVEL, type Operator } from '#shared/service/security/admin-auth.ts'
import type { Acting } from '#shared/service/security/audit-log.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { actsForPilgrim, type Endpoint, type LimitName, Nothing } from '#shared/contracts/endpoint.ts'
import { UserId, USER_ID_ALIASES } from '#shared/contracts/fields.ts'
import { SUBMISSION_KINDS } from '#shared/stores/kv/kv.ts'
import { forbidden, notActive, unauthorized, invalid } from '#shared/runtime/refusal.ts'
import { checkClaim } from '#shared/service/security/claims.ts'
import { type AddressLimit, charge } from '#shared/service/security/caller-and-address-limits.ts'
import { keptBytes, priceInMs, priceOfCall } from '#shared/service/security/request-prices.ts'
import { validationMessage } from '#shared/runtime/validation-message.ts'
import { validationError } from './answer-errors.ts'
import { parseJson, readBody, type SentBody } from './body.ts'

export interface Call<P, Q, B, O = Acting | null> {
  readonly params: P
  readonly query: Q
  readonly body: B
  /** Bytes of a raw body. */
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly operator: O
  readonly request: Request
  readonly requestId: string
}

const NamedByHeader = z.object({ 'X-Line-User-Id': UserId })

const parse = <S extends z.ZodType>(schema: S, value: unknown): z.infer<S> => {
  if (schema === (Nothing as z.ZodType)) return {} as z.infer<S>
  const parsed = schema.safeParse(value, { error: validationMessage })
  if (!parsed.success) throw validationError(parsed.error)
  return parsed.data
}

async function authorize(
  context: ServiceContext,
  endpoint: Endpoint & { access: keyof typeof ACCESS_LEVEL },
  request: Request,
): Promise<Operator | null> {
  const operator = await context.auth.authenticate(
    request.headers.get('x-admin-token'),
    context.addressOf(request),
  )
  const level = ACCESS_LEVEL[endpoint.access]
  if (operator === null) {
    if (level > 0) throw unauthorized('This needs an X-Admin-Token header.')
    return null
  }
  if (endpoint.limit === 'admin')
    await charge(context.kv, 'admin', operator.fingerprint, context.config.limits.admin)
  if (operator.level < level)
    throw forbidden(
      endpoint.access === 'owner'
        ? 'This needs the token of an owner.'
        : `This needs the token of a ${endpoint.access} or above.`,
    )
  return operator
}

/** @throws Refusal 403 once the event has ended */
export async function refuseAfterEnd(context: Pick<ServiceContext, 'db' | 'kv'>): Promise<void> {
  const { status, message } = await readStatusCopy(context)
  if (status === 'ended') throw notActive('ended', message)
}

const ADMISSION_LIMITS: readonly LimitName[] = SUBMISSION_KINDS

async function chargePublic(context: ServiceContext, endpoint: Endpoint, userId: unknown, request: Request) {
  const { limit } = endpoint
  if (limit === null || limit === 'admin' || ADMISSION_LIMITS.includes(limit)) return
  const byUser = limit !== 'address-write' && typeof userId === 'string'
  const name = byUser ? limit : 'address-write'
  // The survey has two paths, which share one limit.
  const route = name === 'survey' ? '' : endpoint.path
  const caller = byUser ? userId : context.addressOf(request)
  await charge(context.kv, name, `${route}:${caller}`, context.config.limits[name])
}

/** The limit of an address that counts a call. The webhook has none, because LINE's signature protects it. */
function addressLimitOf(
  { addresses, reads }: ServiceContext,
  { limit, method }: Endpoint,
  operator: Operator | null,
): AddressLimit | null {
  if (operator !== null) return null
  if (limit !== null && limit !== 'admin') return addresses
  return method === 'GET' ? reads : null
}

/** @returns a function that charges an address, and lets an SOS pass a full limit within a separate bound */
function payingOf(context: ServiceContext, endpoint: Endpoint, request: Request, bytes: Uint8Array) {
  return (charge: () => void): void => {
    try {
      charge()
    } catch (error) {
      if (!endpoint.isAlarm(new URL(request.url).search, bytes)) throw error
      context.alarms.charge(context.addressOf(request))
    }
  }
}

const NO_BODY: SentBody = { bytes: new Uint8Array(), cutBytes: 0 }

/** The first checks: size and authentication. @throws Refusal */
export async function admit(context: ServiceContext, endpoint: Endpoint, request: Request) {
  // Every endpoint rejects an oversized body, even an endpoint without a body.
  const bytes = endpoint.bodyBytes ?? context.config.bodyBytes
  const sent =
    endpoint.method === 'GET'
      ? NO_BODY
      : await readBody(request, { bytes, sentBytes: endpoint.sentBytes ?? bytes })
  const operator = endpoint.access === 'public' ? null : await authorize(context, endpoint, request)
  return { ...sent, operator }
}

/** The user id of a call after validation. @throws Refusal 400 for an invalid id in the header */
function callerOf(endpoint: Endpoint, body: unknown, query: unknown, header: string | null): unknown {
  if (endpoint.caller === 'header')
    return header ? parse(NamedByHeader, { 'X-Line-User-Id': header })['X-Line-User-Id'] : undefined
  return ((endpoint.caller === 'query' ? query : body) as { readonly user_id?: unknown }).user_id
}

/**
 * All other checks. The address is charged first, by the size of the body, so that invalid requests are not free.
 * @throws Refusal
 */
export async function callOf(
  context: ServiceContext,
  endpoint: Endpoint,
  request: Request,
  params: unknown,
  requestId: string,
  { bytes, cutBytes, operator }: Awaited<ReturnType<typeof admit>>,
) {
  const price = priceOfCall(endpoint)
  const address = addressLimitOf(context, endpoint, operator)
  const paying = payingOf(context, endpoint, request, bytes)
  paying(() => address?.charge(context.addressOf(request), priceInMs(price, bytes.length, cutBytes)))
  // Operators may name a pilgrim by the pseudonym that is shown to them.
  const named = <T>(value: T): T => (operator === null ? value : context.pseudonyms.reveal(value))
  const json = endpoint.bodyKind === 'json' ? named(parseJson(bytes)) : {}
  const header = endpoint.caller === 'none' ? null : request.headers.get('x-line-user-id')
  const given = endpoint.caller === 'body' ? foldUserId(json, header) : json
  const body = endpoint.fastBody?.(given) ?? parse(endpoint.body, given)
  const queried: Record<string, string> =
    endpoint.query === Nothing ? {} : named(Object.fromEntries(new URL(request.url).searchParams))
  if (queried.cursor !== undefined && context.pseudonyms.hidesFrom(operator))
    // An empty text is no list's cursor.
    queried.cursor = context.pseudonyms.open(queried.cursor) ?? ''
  const query = parse(endpoint.query, endpoint.caller === 'query' ? foldUserId(queried, header) : queried)
  const userId = callerOf(endpoint, body, query, header)
  if (actsForPilgrim(endpoint) && typeof userId === 'string') {
    await context.checkIdentity(request, userId)
    checkClaim(context.config, endpoint, userId, body)
  }
  if (endpoint.closedAtEnd === true) await refuseAfterEnd(context)
  await chargePublic(context, endpoint, userId, request)
  if (address !== null)
    paying(() =>
      context.kept.charge(endpoint.service, context.addressOf(request), keptBytes(price, bytes.length, body)),
    )
  return {
    params: parse(endpoint.params, named(params ?? {})),
    query,
    body,
    bytes,
    operator: operator && { ...operator, requestId },
    request,
    requestId,
  }
}

/**
 * Sets `user_id` from its aliases, or from the header if the body has none.
 * @throws Refusal 400 if two of them differ
 */
function foldUserId(given: unknown, header: string | null): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given
  const fields = given as Partial<Record<(typeof USER_ID_ALIASES)[number], unknown>>
  let userId: unknown
  for (const alias of USER_ID_ALIASES) {
    const value = fields[alias]
    if (value === undefined || value === null) continue
    if (userId !== undefined && userId !== value)
      throw invalid(`${alias}: differs from another name of the same field; send one user_id`)
    userId = value
  }
  userId ??= header ?? undefined
  return userId === undefined || fields.user_id === userId ? given : { ...fields, user_id: userId }
}

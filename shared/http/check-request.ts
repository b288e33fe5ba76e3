/**
 * From a request to a checked call. The order of checks is the decided one: route, method, size, auth, limit,
 * validation, then the verb's own (status, existence). Elysia's hooks would validate before they authenticate, so
 * the pipeline stands here, in one place.
 */
import { z } from 'zod'
import { readStatus } from '#shared/lifecycle/activity-status.ts'
import { ACCESS_LEVEL, type Operator } from '#shared/security/admin-auth.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { type Endpoint, Nothing } from '#shared/contracts/endpoint.ts'
import { UserId } from '#shared/contracts/fields.ts'
import { forbidden, notActive, Refusal, unauthorized } from '#shared/http/errors.ts'
import { charge } from '#shared/security/rate-limits.ts'
import { validationMessage } from '#shared/http/validation-message.ts'
import { parseJson, readBytes } from './body.ts'
import { foldUserId } from './caller.ts'
import { validationError } from './failures.ts'

/** What a handler is given: everything checked. */
export interface Call<P, Q, B> {
  readonly params: P
  readonly query: Q
  readonly body: B
  /** Bytes of a raw body. */
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly operator: Operator | null
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
async function refuseAfterEnd({ db, kv }: ServiceContext): Promise<void> {
  const held = await kv.status().catch(() => null)
  const { status, message } = held ?? (await readStatus(db))
  if (status === 'ended') throw notActive('ended', message)
}

/** Charges the limits that are not the admission's own. */
async function chargePublic(context: ServiceContext, endpoint: Endpoint, userId: unknown, request: Request) {
  const { limit } = endpoint
  if (limit === null || limit === 'admin' || limit === 'checkin' || limit === 'sync') return
  const byUser = limit !== 'address-write' && typeof userId === 'string'
  const name = byUser ? limit : 'address-write'
  // The survey has two names and one limit.
  const route = name === 'survey' ? '' : endpoint.path
  const caller = byUser ? userId : context.addressOf(request)
  await charge(context.kv, name, `${route}:${caller}`, context.config.limits[name])
}

/** What the public sends to be kept or drawn; the webhook is LINE's, and its signature guards it. */
const isPublicWrite = ({ limit }: Endpoint, operator: Operator | null): boolean =>
  limit !== null && limit !== 'admin' && operator === null

/** Refusals that no limit counts: the request was wrong, or came at the wrong time. */
const UNCOUNTED: readonly number[] = [400, 401, 403, 413]

/** Takes back what an address was charged for a call that its handler has refused. */
export function forgiveAddress(
  context: ServiceContext,
  endpoint: Endpoint,
  { operator, request }: Pick<Call<unknown, unknown, unknown>, 'operator' | 'request'>,
  error: unknown,
): void {
  const uncounted = error instanceof Refusal && UNCOUNTED.includes(error.httpStatus)
  if (uncounted && isPublicWrite(endpoint, operator)) context.addresses.forgive(context.addressOf(request))
}

/** The first checks: size, and who calls. @throws Refusal */
export async function admit(context: ServiceContext, endpoint: Endpoint, request: Request) {
  // Also where no body is asked for: one that is too large is refused everywhere alike.
  const bytes =
    endpoint.method === 'GET' ? new Uint8Array() : await readBytes(request, context.config.bodyBytes)
  const operator = endpoint.access === 'public' ? null : await authorize(context, endpoint, request)
  const json = endpoint.bodyKind === 'json' ? parseJson(bytes) : {}
  return { json, bytes, operator }
}

/** In whose name a call is made, by what its contract has checked. @throws Refusal 400 for a header that names nobody */
function callerOf(endpoint: Endpoint, body: unknown, query: unknown, header: string | null): unknown {
  if (endpoint.caller === 'header')
    return header ? parse(NamedByHeader, { 'X-Line-User-Id': header })['X-Line-User-Id'] : undefined
  return ((endpoint.caller === 'query' ? query : body) as { readonly user_id?: unknown }).user_id
}

/** All other checks. @throws Refusal */
export async function callOf(
  context: ServiceContext,
  endpoint: Endpoint,
  request: Request,
  params: unknown,
  requestId: string,
  { json, bytes, operator }: Awaited<ReturnType<typeof admit>>,
) {
  const header = endpoint.caller === 'none' ? null : request.headers.get('x-line-user-id')
  const given = endpoint.caller === 'body' ? foldUserId(json, header) : json
  const body = endpoint.quickBody?.(given) ?? parse(endpoint.body, given)
  const queried = endpoint.query === Nothing ? {} : Object.fromEntries(new URL(request.url).searchParams)
  const query = parse(endpoint.query, endpoint.caller === 'query' ? foldUserId(queried, header) : queried)
  const userId = callerOf(endpoint, body, query, header)
  if (endpoint.access === 'public' && endpoint.caller !== 'query' && typeof userId === 'string')
    await context.checkIdentity(request, userId)
  if (endpoint.closedAtEnd) await refuseAfterEnd(context)
  if (isPublicWrite(endpoint, operator)) context.addresses.charge(context.addressOf(request))
  await chargePublic(context, endpoint, userId, request)
  return {
    params: parse(endpoint.params, params ?? {}),
    query,
    body,
    bytes,
    operator,
    request,
    requestId,
  }
}

/**
 * From an endpoint's declaration to a route. The order of checks is the decided one: route, method, size,
 * auth, limit, validation, then the verb's own (status, existence). Elysia's hooks would validate before
 * they authenticate, so the pipeline stands here, in one place.
 */
import { cors } from '@elysiajs/cors'
import { Elysia } from 'elysia'
import type { z } from 'zod'
import { readStatus } from '#shared/activity.ts'
import { ACCESS_LEVEL, type Operator } from '#shared/auth.ts'
import type { ServiceContext } from '#shared/context.ts'
import type { Endpoint } from '#shared/contracts/endpoint.ts'
import { forbidden, notActive, unauthorized } from '#shared/errors.ts'
import { charge } from '#shared/limits.ts'
import { readBytes, readJson } from './body.ts'
import { foldUserId } from './caller.ts'
import { KeptAnswers } from './kept-answers.ts'
import { answerError, validationError, patiently } from './failures.ts'

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
  /** The client's address as our own proxy states it. */
  readonly address: string
}

type CallOf<E> =
  E extends Endpoint<infer P, infer Q, infer B> ? Call<z.infer<P>, z.infer<Q>, z.infer<B>> : never
type DataOf<E> = E extends Endpoint<z.ZodType, z.ZodType, z.ZodType, infer D> ? z.infer<D> : never

/** Answers with the data of the envelope, or with a whole response. */
export type Handler<E> = (call: CallOf<E>) => Promise<DataOf<E> | Response> | DataOf<E> | Response

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const REQUEST_HEADERS = [
  'Content-Type',
  'Authorization',
  'X-Admin-Token',
  'X-Line-User-Id',
  'X-User-Id',
  'X-Request-Id',
]
const EXPOSED = ['Retry-After', 'X-Request-Id', 'RateLimit', 'RateLimit-Policy', 'ETag']

/** A request id that a client may choose: it goes into logs and answers, never into a limit. */
const CLIENT_REQUEST_ID = /^[A-Za-z0-9_.:-]{1,64}$/

/** An empty router of one service: request ids, CORS, errors, 404 and 405. */
export function createRouter(context: ServiceContext) {
  const { corsOrigins } = context.config
  const anyOrigin = corsOrigins.includes('*')
  return new Elysia({
    // The router looks for the path from a fixed offset of the URL: 11, or 7. Behind the proxy URLs begin with
    // http:// and only 7 is right for every Host; with TLS they begin with https:// and only 11 can be.
    handler: { standardHostname: context.tls },
    // With a slash at the end a path is another one, here as in the proxy.
    strictPath: true,
  })
    .onRequest(({ request, set }) => {
      const given = request.headers.get('x-request-id')
      set.headers['x-request-id'] =
        given !== null && CLIENT_REQUEST_ID.test(given) ? given : crypto.randomUUID()
    })
    .onError(({ error, request, set }) => {
      // The plugin answers `Vary: *`, which no cache can serve; with any origin nothing varies.
      if (anyOrigin) delete set.headers.vary
      return answerError(context, error, request, String(set.headers['x-request-id']))
    })
    .use(
      cors({
        origin: anyOrigin ? '*' : corsOrigins,
        credentials: !anyOrigin,
        methods: METHODS,
        allowedHeaders: REQUEST_HEADERS,
        exposeHeaders: EXPOSED,
        maxAge: 86_400,
      }),
    )
}

export type Router = ReturnType<typeof createRouter>

const parse = <S extends z.ZodType>(schema: S, value: unknown): z.infer<S> => {
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw validationError(parsed.error)
  return parsed.data
}

async function authorize(
  context: ServiceContext,
  endpoint: Endpoint,
  request: Request,
): Promise<Operator | null> {
  if (endpoint.access === 'public') return null
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
  if (operator.level < level) throw forbidden(`This needs the token of a ${endpoint.access} or above.`)
  return operator
}

/** @throws Refusal 403 once the event has ended */
async function refuseAfterEnd({ db, kv }: ServiceContext): Promise<void> {
  const held = await kv.status().catch(() => null)
  const { status, message } = held ?? (await readStatus(db))
  if (status === 'ended') throw notActive('ended', message)
}

/** Charges the limits that are not the admission's own. */
async function chargePublic(context: ServiceContext, endpoint: Endpoint, userId: unknown, address: string) {
  const { limit } = endpoint
  if (limit === null || limit === 'admin' || limit === 'checkin' || limit === 'sync') return
  const byUser = limit !== 'address-write' && typeof userId === 'string'
  const name = byUser ? limit : 'address-write'
  // The survey has two names and one limit.
  const route = name === 'survey' ? '' : endpoint.path
  await charge(context.kv, name, `${route}:${byUser ? userId : address}`, context.config.limits[name])
}

/** The first checks: size, and who calls. */
async function admit(context: ServiceContext, endpoint: Endpoint, request: Request) {
  const { bodyBytes } = context.config
  const json = endpoint.bodyKind === 'json' ? await readJson(request, bodyBytes) : {}
  const bytes = endpoint.bodyKind === 'raw' ? await readBytes(request, bodyBytes) : new Uint8Array()
  return { json, bytes, operator: await authorize(context, endpoint, request) }
}

async function callOf(
  context: ServiceContext,
  endpoint: Endpoint,
  request: Request,
  params: unknown,
  requestId: string,
  { json, bytes, operator }: Awaited<ReturnType<typeof admit>>,
) {
  const header = endpoint.caller === 'none' ? null : request.headers.get('x-line-user-id')
  const queried = Object.fromEntries(new URL(request.url).searchParams)
  const body = parse(endpoint.body, endpoint.caller === 'body' ? foldUserId(json, header) : json)
  const query = parse(endpoint.query, endpoint.caller === 'query' ? foldUserId(queried, header) : queried)
  const address = context.addressOf(request)
  const caller = (endpoint.caller === 'query' ? query : body) as { readonly user_id?: unknown }
  if (endpoint.access === 'public' && endpoint.caller === 'body' && typeof caller.user_id === 'string')
    await context.checkIdentity(request, caller.user_id)
  if (endpoint.closedAtEnd) await refuseAfterEnd(context)
  await chargePublic(context, endpoint, caller.user_id, address)
  return {
    params: parse(endpoint.params, params ?? {}),
    query,
    body,
    bytes,
    operator,
    request,
    requestId,
    address,
  }
}

/** Serves an endpoint: the handler sees a checked call, the client an envelope. */
export function serve<E extends Endpoint>(
  router: Router,
  context: ServiceContext,
  endpoint: E,
  handler: Handler<E>,
): void {
  const { config, metrics } = context
  const anyOrigin = config.corsOrigins.includes('*')
  const kept = endpoint.keepMs > 0 ? new KeptAnswers(endpoint.keepMs, context.now) : null
  const openly = ACCESS_LEVEL[endpoint.access] === 0 ? kept : null
  // The contract is the guard against leaks: what it does not name does not leave.
  const envelope = (data: unknown) => ({ ok: true, data: endpoint.data.parse(data) })
  const answer = async (request: Request, params: unknown, requestId: string): Promise<Response> => {
    const admitted = await admit(context, endpoint, request)
    const { operator } = admitted
    const found = kept?.find(request, operator)
    if (found) return found
    const call = (await callOf(context, endpoint, request, params, requestId, admitted)) as CallOf<E>
    if (kept !== null)
      return kept.answer(request, operator, [call.params, call.query], async () =>
        JSON.stringify(envelope(await handler(call))),
      )
    const data = await handler(call)
    return data instanceof Response ? data : Response.json(envelope(data), { status: endpoint.success })
  }
  router.route(
    endpoint.method,
    endpoint.path,
    async ({ request, params, set }) => {
      const started = performance.now()
      if (anyOrigin) delete set.headers.vary
      // Of the public many ask the same, and nothing has to be checked.
      const found = request.headers.has('x-admin-token') ? null : openly?.find(request, null)
      const response =
        found ?? (await patiently(answer(request, params, String(set.headers['x-request-id']))))
      metrics.request(endpoint.path, endpoint.method, response.status, (performance.now() - started) / 1_000)
      return response
    },
    { parse: 'none' },
  )
}

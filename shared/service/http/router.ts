/** Serves endpoints as routes. */
import { type Context, Elysia } from 'elysia'
import type { z } from 'zod'
import { ACCESS_LEVEL, type Operator } from '#shared/service/security/admin-auth.ts'
import type { Acting } from '#shared/service/security/audit-log.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { type Endpoint, Written } from '#shared/contracts/endpoint.ts'
import { expectClaimRule } from '#shared/service/security/claims.ts'
import { admit, type Call, callOf } from './check-request.ts'
import { answerError, answerUnrouted, withRequestTimeout } from './answer-errors.ts'
import { span } from '#shared/runtime/traces.ts'
import { Refusal, temporaryAs503 } from '#shared/runtime/refusal.ts'
import { crossOrigin, preflight, requestIdOf, stamp, takeHeaders } from './headers.ts'
import { ResponseCache } from './response-cache.ts'

type CallOf<E> =
  E extends Endpoint<infer P, infer Q, infer B, z.ZodType, infer A>
    ? Call<z.infer<P>, z.infer<Q>, z.infer<B>, OperatorOf<A>>
    : never
type OperatorOf<A> = A extends 'public' ? null : A extends 'optional' ? Acting | null : Acting
type DataOf<E> = E extends Endpoint<z.ZodType, z.ZodType, z.ZodType, infer D> ? z.infer<D> : never

/** Returns the data of the envelope, or a complete response. */
type Handler<E> = (call: CallOf<E>) => Promise<Answer<E>> | Answer<E>
type Answer<E> = DataOf<E> | Written | Response

/** Replaces the JSON of a refusal, for an endpoint that browsers show as a page. */
type RefusalPage = (refused: Response, request: Request) => Response

/** An application that answers preflights, errors, 404 and 405 by itself. */
function createApp(context: ServiceContext) {
  return new Elysia({
    // The router searches for the path from a fixed offset of the URL: 11, or 7. Behind the proxy, URLs begin with
    // http:// and only 7 is correct for every Host; with TLS they begin with https:// and 11 is correct.
    handler: { standardHostname: context.tls },
    // A path with a trailing slash is a different path, as in the proxy.
    strictPath: true,
  })
    .use(crossOrigin(context.config.corsOrigins))
    .onError(async ({ error, request, set }) => {
      const requestId = requestIdOf(request)
      if (request.method === 'OPTIONS') return preflight(set, requestId)
      return stamp(await answerUnrouted(context, error, request, requestId), set, requestId)
    })
}

/** The routes of a service. */
export function createRouter(context: ServiceContext) {
  const app = createApp(context)
  return {
    app,
    /** Serves an endpoint: the handler gets a checked call, the client gets an envelope. */
    serve: <E extends Endpoint>(endpoint: E, handler: Handler<E>, refusalPage?: RefusalPage): void => {
      expectClaimRule(endpoint)
      const route = routeOf(context, endpoint, handler, refusalPage)
      for (const end of endpoint.slash ? ['', '/'] : [''])
        app.route(endpoint.method, endpoint.path + end, route, { parse: 'none' })
    },
  }
}

export type Router = ReturnType<typeof createRouter>

type Routed = Pick<Context, 'request' | 'set'> & { readonly params: unknown }

const JSON_TYPE = 'application/json;charset=utf-8'

/** Serializes only fields that the contract declares, which prevents leaks. */
const envelope = (endpoint: Endpoint, data: unknown): string =>
  data instanceof Written
    ? `{"ok":true,"data":${data.json}}`
    : JSON.stringify({ ok: true, data: endpoint.fastData?.(data) ?? endpoint.data.parse(data) })

function enveloped(endpoint: Endpoint, json: string, headers: Record<string, string>): Response {
  headers['content-type'] = JSON_TYPE
  return new Response(json, { status: endpoint.success, headers })
}

/** Counts a success in the metrics; refusals are counted separately. */
function counted(
  context: ServiceContext,
  endpoint: Endpoint,
  response: Response,
  startedMs: number,
): Response {
  if (response.status < 400) {
    const seconds = (performance.now() - startedMs) / 1_000
    context.metrics.request(endpoint.path, endpoint.method, response.status, seconds)
  }
  return response
}

/** Replaces ids that give access to a pilgrim's own data by pseudonyms (`security/pseudonyms.ts`). */
type Hide = (text: string) => string

const termsOf = ({ temporaryIs503 }: Endpoint, error: unknown): unknown =>
  temporaryIs503 ? temporaryAs503(error) : error

function routeOf<E extends Endpoint>(
  context: ServiceContext,
  endpoint: E,
  handler: Handler<E>,
  refusalPage: RefusalPage = (refused) => refused,
) {
  const cache = endpoint.cacheMs > 0 ? new ResponseCache(endpoint.cacheMs, context.stopwatch) : null
  const publicCache = ACCESS_LEVEL[endpoint.access] === 0 ? cache : null
  const answerAdmitted = async (
    { request, params, set }: Routed,
    requestId: string,
    admitted: Awaited<ReturnType<typeof admit>>,
    hide: Hide,
  ): Promise<Response> => {
    const { operator } = admitted
    const headersOf = () => takeHeaders(set, requestId)
    const found = cache?.find(request, operator, headersOf)
    if (found) return found
    const call = (await callOf(context, endpoint, request, params, requestId, admitted)) as CallOf<E>
    if (cache !== null) {
      const make = async () => hide(envelope(endpoint, await handler(call)))
      return cache.answer(request, operator, [call.params, call.query], make, headersOf)
    }
    const data = sealed(await handler(call), operator)
    const answer =
      data instanceof Response
        ? stamp(data, set, requestId)
        : enveloped(endpoint, hide(envelope(endpoint, data)), headersOf())
    // An answer that does not say that it may be stored is not left in the browser's files: an id or a token opened it.
    const isPrivate = endpoint.method === 'GET' || operator !== null || request.headers.has('authorization')
    if (isPrivate && !answer.headers.has('cache-control')) answer.headers.set('cache-control', 'no-store')
    return answer
  }
  /** Signs the cursor of a page for operators who see pseudonyms. */
  const sealed = <T>(data: T, operator: Operator | null): T => {
    const { next_cursor: cursor } = (data ?? {}) as { readonly next_cursor?: unknown }
    if (typeof cursor !== 'string' || !context.pseudonyms.hidesFrom(operator)) return data
    return { ...data, next_cursor: context.pseudonyms.seal(cursor) }
  }
  const answer = async (routed: Routed, requestId: string): Promise<Response> => {
    const admitted = await admit(context, endpoint, routed.request)
    const hide: Hide = (text) => context.pseudonyms.hide(text, admitted.operator)
    try {
      return await answerAdmitted(routed, requestId, admitted, hide)
    } catch (error) {
      throw error instanceof Refusal ? error.with(hide(error.message)) : error
    }
  }
  const answerOrRefuse = async (routed: Routed, requestId: string): Promise<Response> => {
    const { request, set } = routed
    try {
      return await withRequestTimeout(request, answer(routed, requestId))
    } catch (error) {
      const refused = answerError(context, termsOf(endpoint, error), endpoint.path, requestId)
      return stamp(refusalPage(refused, request), set, requestId)
    }
  }
  const spanName = `${endpoint.method} ${endpoint.path}`
  const attributes = { 'http.request.method': endpoint.method, 'http.route': endpoint.path }
  // Elysia parses this parameter list and prepares only the names in it: no headers, query or cookies.
  return ({ request, params, set }: Routed): Response | Promise<Response> => {
    const startedMs = performance.now()
    const requestId = requestIdOf(request)
    // Fast path for the public: a cached answer needs no checks.
    const found =
      publicCache === null || request.headers.has('x-admin-token')
        ? null
        : publicCache.find(request, null, () => takeHeaders(set, requestId))
    if (found !== null) return counted(context, endpoint, found, startedMs)
    return span(spanName, attributes, (note) =>
      answerOrRefuse({ request, params, set }, requestId).then((response) => {
        note({ 'http.response.status_code': response.status })
        return counted(context, endpoint, response, startedMs)
      }),
    )
  }
}

/** Error responses: a sentence and a code, without internal details. */
import { within } from '#shared/runtime/deadline.ts'
import type { z } from 'zod'
import type { ServiceContext } from '#shared/service/context.ts'
import type { ErrorBody } from '#shared/contracts/errors.ts'
import { invalid, Refusal, unavailable } from '#shared/runtime/refusal.ts'
import { errorFields, type Log } from '#shared/runtime/log.ts'
import { isStoreUnavailable } from '#shared/stores/repeated-work.ts'
import { isBodyArriving } from './body.ts'

/** Timeout of a request, in case a dependency hangs. */
const REQUEST_TIMEOUT_MS = 25_000

/**
 * Limits the time to an answer. A body that is still arriving has its own limits.
 * @throws Refusal 503 on timeout
 */
export const withRequestTimeout = (request: Request, answer: Promise<Response>): Promise<Response> =>
  within(answer, REQUEST_TIMEOUT_MS, () => {
    if (isBodyArriving(request)) return withRequestTimeout(request, answer)
    throw unavailable('The service did not answer in time: please try again.')
  })

/** Same text as Caddy's own 404 (proxy/errors.caddy). */
const NOTHING_HERE = 'There is nothing at this address. The API is documented at /api/event/docs.'

const MAX_NAMED = 5
/** Paths come from the client and may be long. */
const MAX_PATH = 200

/** The message of an issue; for a forbidden key, the rule of keys. */
const messageOf = (issue: z.core.$ZodIssue): string =>
  issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message

/** `user_id is missing`, but `lat: must be at most 90`. */
const sentence = (field: string, fault: string): string =>
  fault.startsWith('is missing') ? `${field} ${fault}` : `${field}: ${fault}`

/** 400 that names each faulty field. */
export function validationError(error: z.ZodError): Refusal {
  const named = error.issues
    .slice(0, MAX_NAMED)
    .map((issue) => sentence(issue.path.join('.').slice(0, MAX_PATH) || 'body', messageOf(issue)))
  const more = error.issues.length - named.length
  return invalid(named.join('; ') + (more > 0 ? `; and ${more} more` : ''))
}

function refusalOf(context: ServiceContext, error: unknown, route: string): Refusal {
  if (error instanceof Refusal) return error
  if (isStoreUnavailable(error)) {
    context.log.warn('a dependency is unavailable', { route, ...errorFields(error) })
    return unavailable('A part of the service is unavailable: please try again in a moment.')
  }
  context.log.error('a request failed', { route, ...errorFields(error) })
  return new Refusal(500, 'internal', 'Internal server error')
}

/** @param route path pattern of the request, for logs and metrics: the path itself may contain user ids */
export function answerError(
  context: ServiceContext,
  error: unknown,
  route: string,
  requestId: string,
): Response {
  const refusal = refusalOf(context, error, route)
  context.metrics.count('event_http_refusals_total', {
    route,
    status: String(refusal.httpStatus),
    code: refusal.reason,
  })
  const body: ErrorBody = { error: refusal.message, code: refusal.reason, request_id: requestId }
  return Response.json(body, { status: refusal.httpStatus, headers: refusal.headers })
}

/** Answers a request that no route of this service has taken. */
export async function answerUnrouted(
  context: ServiceContext,
  error: unknown,
  request: Request,
  requestId: string,
): Promise<Response> {
  // Loads the endpoints of all services (5 MB), of which a service serves few.
  const { allowedMethods, routeOf } = await import('./routes.ts')
  const path = URL.parse(request.url)?.pathname ?? ''
  const route = routeOf(path, request.method)
  const isUnknown = (error as { code?: unknown }).code === 'NOT_FOUND'
  const refusal = isUnknown ? unroutedRefusal(allowedMethods(path), request.method) : error
  return answerError(context, refusal, route, requestId)
}

/** @param allowed methods of the path */
function unroutedRefusal(allowed: readonly string[], method: string): Refusal {
  // The router matches the raw path; this table matches the parsed URL, where `..` and `#` have a meaning.
  if (allowed.length === 0 || allowed.includes(method)) return new Refusal(404, 'not-found', NOTHING_HERE)
  const Allow = allowed.join(', ')
  return new Refusal(405, 'method-not-allowed', `This address takes ${Allow}.`, { Allow })
}

export function answerUnexpected(log: Log, error: unknown): Response {
  log.error('a request failed before it reached a route', errorFields(error))
  const body: ErrorBody = { error: 'Internal server error', code: 'internal' }
  return Response.json(body, { status: 500 })
}

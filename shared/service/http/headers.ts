/** Headers of answers: the request id, CORS, and entity tags. */
import { cors } from '@elysiajs/cors'
import type { Context } from 'elysia'

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
const PREFLIGHT_S = 86_400

/** The form of a client's request id, which appears in logs and answers. */
const CLIENT_REQUEST_ID = /^[A-Za-z0-9_.:-]{1,64}$/

export function requestIdOf(request: Request): string {
  const given = request.headers.get('x-request-id')
  return given !== null && CLIENT_REQUEST_ID.test(given) ? given : crypto.randomUUID()
}

/** @param origins exact origins that may read answers; `*`: all, without credentials */
export function crossOrigin(origins: readonly string[]) {
  const anyOrigin = origins.includes('*')
  return cors({
    origin: anyOrigin ? '*' : (request) => origins.includes(request.headers.get('origin') ?? ''),
    credentials: !anyOrigin,
    // A string, because a list would be joined for each answer.
    methods: METHODS.join(', '),
    allowedHeaders: REQUEST_HEADERS,
    exposeHeaders: EXPOSED,
    // No route handles OPTIONS: the router's error handler answers it.
    preflight: false,
  })
}

type Headers = Record<string, string>

/**
 * Copies the CORS plugin's headers, without those of preflights, from `set`. Elysia would merge them one by one into a
 * finished response, which costs more than the rest of its work.
 */
export function takeHeaders(set: Context['set'], requestId: string): Headers {
  const given = set.headers as Headers
  set.headers = {}
  const headers: Headers = {
    'x-request-id': requestId,
    'access-control-expose-headers': given['access-control-expose-headers']!,
  }
  const origin = given['access-control-allow-origin']
  if (origin !== undefined) headers['access-control-allow-origin'] = origin
  if (given.vary === 'Origin') {
    headers.vary = given.vary
    if (origin !== undefined) headers['access-control-allow-credentials'] = 'true'
  }
  return headers
}

export function stamp(response: Response, set: Context['set'], requestId: string): Response {
  for (const [name, value] of Object.entries(takeHeaders(set, requestId))) {
    if (name === 'vary') response.headers.append(name, value)
    else response.headers.set(name, value)
  }
  return response
}

export function preflight(set: Context['set'], requestId: string): Response {
  const { 'access-control-allow-methods': methods, 'access-control-allow-headers': names } =
    set.headers as Headers
  return new Response(null, {
    status: 204,
    headers: {
      ...takeHeaders(set, requestId),
      'access-control-allow-methods': methods!,
      'access-control-allow-headers': names!,
      'access-control-max-age': String(PREFLIGHT_S),
    },
  })
}

// Security headers of every answer, for runs without a proxy; proxy/headers.caddy sets the same.

export const BROWSER_HEADERS: Readonly<Record<string, string>> = {
  'Strict-Transport-Security': 'max-age=31536000',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  // Other sites embed share cards and screenshots.
  'Cross-Origin-Resource-Policy': 'cross-origin',
}
/** A page with scripts sets its own policy. */
const DEFAULT_POLICY = "default-src 'none'; frame-ancestors 'none'"

export function withBrowserHeaders(response: Response): Response {
  for (const [name, value] of Object.entries(BROWSER_HEADERS)) response.headers.set(name, value)
  if (!response.headers.has('Content-Security-Policy'))
    response.headers.set('Content-Security-Policy', DEFAULT_POLICY)
  return response
}

/** Whether `If-None-Match` contains this tag (RFC 9110, 13.1.2: weak comparison, a list, or `*`). */
export function matchesEtag(request: Request, tag: string): boolean {
  const header = request.headers.get('if-none-match')
  if (header === null) return false
  if (header.trim() === '*') return true
  return header.split(',').some((one) => one.trim().replace(/^W\//, '') === tag)
}

/**
 * Answers 200, or 304 when the client has this version. HEAD is answered as GET.
 * @param tag with quotes
 * @param headers of both answers
 * @param ofBody headers of a 200 alone
 */
export function taggedResponse(
  request: Request,
  tag: string,
  body: BodyInit,
  headers: Headers,
  ofBody: Headers,
): Response {
  headers.etag = tag
  if (matchesEtag(request, tag)) return new Response(null, { status: 304, headers })
  return new Response(body, { headers: Object.assign(headers, ofBody) })
}

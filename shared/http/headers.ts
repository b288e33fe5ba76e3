/** Headers that every answer carries: a request's name, and what browsers of other sites may read. */

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

/** A request id that a client may choose: it goes into logs and answers, never into a limit. */
const CLIENT_REQUEST_ID = /^[A-Za-z0-9_.:-]{1,64}$/

/** The client's own name of a request, or a new one. */
export function requestIdOf(request: Request): string {
  const given = request.headers.get('x-request-id')
  return given !== null && CLIENT_REQUEST_ID.test(given) ? given : crypto.randomUUID()
}

export interface CommonHeaders {
  /** Those of the answer to a request. */
  of(request: Request, requestId: string): Record<string, string>
  /** Puts them on an answer that was made without them. */
  stamp(response: Response, request: Request, requestId: string): Response
  /** The answer to OPTIONS, of any address. */
  preflight(request: Request, requestId: string): Response
}

/** @param origins that may read the answers; `*`: all of them */
export function createCommonHeaders(origins: readonly string[]): CommonHeaders {
  const exposed = { 'access-control-expose-headers': EXPOSED.join(', ') }
  const byAnybody = { 'access-control-allow-origin': '*', ...exposed }
  const anyOrigin = origins.includes('*')

  const cors = (request: Request): Record<string, string> => {
    if (anyOrigin) return byAnybody
    const origin = request.headers.get('origin')
    if (origin === null || !origins.includes(origin)) return { vary: 'Origin', ...exposed }
    return {
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      vary: 'Origin',
      ...exposed,
    }
  }
  const of = (request: Request, requestId: string) => ({ ...cors(request), 'x-request-id': requestId })

  return {
    of,
    stamp(response, request, requestId) {
      for (const [name, value] of Object.entries(of(request, requestId))) {
        if (name === 'vary') response.headers.append(name, value)
        else response.headers.set(name, value)
      }
      return response
    },
    preflight: (request, requestId) =>
      new Response(null, {
        status: 204,
        headers: {
          ...of(request, requestId),
          'access-control-allow-methods': METHODS.join(', '),
          'access-control-allow-headers': REQUEST_HEADERS.join(', '),
          'access-control-max-age': String(PREFLIGHT_S),
        },
      }),
  }
}

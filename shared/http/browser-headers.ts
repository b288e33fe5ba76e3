/** Security headers of every answer, for runs without a proxy; proxy/headers.caddy sets the same. */

export const BROWSER_HEADERS: Readonly<Record<string, string>> = {
  'Strict-Transport-Security': 'max-age=31536000',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  // Other sites embed share cards and screenshots.
  'Cross-Origin-Resource-Policy': 'cross-origin',
}
/** A page with scripts sets its own policy. */
export const DEFAULT_POLICY = "default-src 'none'; frame-ancestors 'none'"

/** Returns the answer with these headers. */
export function withBrowserHeaders(response: Response): Response {
  for (const [name, value] of Object.entries(BROWSER_HEADERS)) response.headers.set(name, value)
  if (!response.headers.has('Content-Security-Policy'))
    response.headers.set('Content-Security-Policy', DEFAULT_POLICY)
  return response
}

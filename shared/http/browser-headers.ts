/** What every answer tells a browser, where no proxy in front does; proxy/headers.caddy says the same. */

export const BROWSER_HEADERS: Readonly<Record<string, string>> = {
  'Strict-Transport-Security': 'max-age=31536000',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  // Share cards and screenshots are shown on pages of other sites.
  'Cross-Origin-Resource-Policy': 'cross-origin',
}
/** A page with scripts of its own brings its own policy. */
export const DEFAULT_POLICY = "default-src 'none'; frame-ancestors 'none'"

/** The same answer with these headers. */
export function withBrowserHeaders(response: Response): Response {
  for (const [name, value] of Object.entries(BROWSER_HEADERS)) response.headers.set(name, value)
  if (!response.headers.has('Content-Security-Policy'))
    response.headers.set('Content-Security-Policy', DEFAULT_POLICY)
  return response
}

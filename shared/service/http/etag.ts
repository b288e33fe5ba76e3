/** Entity tags. */

/** Whether `If-None-Match` contains this tag (RFC 9110, 13.1.2: weak comparison, a list, or `*`). */
export function matchesEtag(request: Request, tag: string): boolean {
  const header = request.headers.get('if-none-match')
  if (header === null) return false
  if (header.trim() === '*') return true
  return header.split(',').some((one) => one.trim().replace(/^W\//, '') === tag)
}

/** Answering with a picture that clients and proxies may keep. */

/** Whether `If-None-Match` names this tag (RFC 9110, 13.1.2: a weak comparison, a list, or `*`). */
function matches(header: string | null, tag: string): boolean {
  if (header === null) return false
  if (header.trim() === '*') return true
  return header.split(',').some((one) => one.trim().replace(/^W\//, '') === tag)
}

/**
 * 200 with the picture, or 304 when the client has it. A HEAD is answered like a GET, without the bytes.
 * @param etag opaque, without quotes
 */
export function answerPng(
  request: Request,
  { bytes, etag }: { readonly bytes: Uint8Array<ArrayBuffer>; readonly etag: string },
  cacheControl: string,
): Response {
  const tag = `"${etag}"`
  const headers = { ETag: tag, 'Cache-Control': cacheControl }
  if (matches(request.headers.get('if-none-match'), tag)) return new Response(null, { status: 304, headers })
  return new Response(bytes, {
    headers: {
      ...headers,
      'Content-Type': 'image/png',
      // The bytes are a picture whatever a browser makes of them.
      'X-Content-Type-Options': 'nosniff',
    },
  })
}

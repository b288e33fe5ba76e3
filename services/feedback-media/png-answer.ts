/** Answering with a picture that clients and proxies may keep. */

import { matchesEtag } from '#shared/http/etag.ts'

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
  if (matchesEtag(request, tag)) return new Response(null, { status: 304, headers })
  return new Response(bytes, {
    headers: {
      ...headers,
      'Content-Type': 'image/png',
      // The bytes are a picture whatever a browser makes of them.
      'X-Content-Type-Options': 'nosniff',
    },
  })
}

/** Answers 200 with a picture that clients and proxies may cache, or 304 when the client has it. */

import { matchesEtag } from '#shared/service/http/headers.ts'

/** @param etag opaque, without quotes */
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
      // Browsers must not guess another type.
      'X-Content-Type-Options': 'nosniff',
    },
  })
}

import { taggedResponse } from '#shared/service/http/headers.ts'

/** Answers with a picture that clients and proxies may cache. @param etag opaque, without quotes */
export const answerPng = (
  request: Request,
  { bytes, etag }: { readonly bytes: Uint8Array<ArrayBuffer>; readonly etag: string },
  cacheControl: string,
): Response =>
  taggedResponse(
    request,
    `"${etag}"`,
    bytes,
    { 'cache-control': cacheControl },
    {
      'content-type': 'image/png',
      // Browsers must not guess another type.
      'x-content-type-options': 'nosniff',
    },
  )

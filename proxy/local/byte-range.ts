/** Answers a part of a file, as Caddy's `file_server` does (RFC 9110, section 14). */
import type { BunFile } from 'bun'
import { matchesEtag } from '#shared/http/etag.ts'

/** First and last byte that are asked for. `whole`: no range, or one that may be ignored; `none`: outside the file. */
function rangeOf(header: string | null, size: number): readonly [number, number] | 'whole' | 'none' {
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return 'whole'
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const last = from === '' || to === '' ? size - 1 : Math.min(size - 1, Number(to))
  if (from !== '' && to !== '' && Number(to) < Number(from)) return 'whole'
  return first > last ? 'none' : [first, last]
}

/** @param headers of the answer, `ETag` among them */
export function partOf(request: Request, file: BunFile, headers: Headers): Response {
  const { size } = file
  const etag = headers.get('etag')!
  headers.set('Accept-Ranges', 'bytes')
  if (matchesEtag(request, etag)) return new Response(null, { status: 304, headers })
  headers.set('Content-Type', 'application/octet-stream')
  const changed = (request.headers.get('if-range') ?? etag) !== etag
  const range = changed ? 'whole' : rangeOf(request.headers.get('range'), size)
  if (range === 'none') {
    headers.set('Content-Range', `bytes */${size}`)
    return new Response(null, { status: 416, headers })
  }
  const [first, last] = range === 'whole' ? [0, size - 1] : range
  if (range !== 'whole') headers.set('Content-Range', `bytes ${first}-${last}/${size}`)
  headers.set('Content-Length', String(last - first + 1))
  const body = request.method === 'HEAD' ? null : file.slice(first, last + 1)
  return new Response(body, { status: range === 'whole' ? 200 : 206, headers })
}

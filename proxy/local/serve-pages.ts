/**
 * Serves the pages in the embedded run, as Caddy does: the same files, the same headers. They are built at the first
 * request.
 */
import { matchesEtag } from '#shared/service/http/headers.ts'
import {
  buildPages,
  type PageEvent,
  type PageSettings,
  type Site,
  siteKey,
} from '../pages/build/build-pages.ts'
import { compress, type Encoding, ENCODINGS } from '../pages/build/compress.ts'
import { type MapTiles, mapTilesOf } from '../pages/build/map-tiles.ts'
import { cacheControlOf, PAGES, policyOf } from '../pages/pages.ts'
import type { BunFile } from 'bun'

interface Stored {
  readonly bytes: Uint8Array
  readonly etag: string
  readonly type: string
  readonly forms: Partial<Record<Encoding, Uint8Array>>
}

const TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    html: 'text/html; charset=utf-8',
    js: 'text/javascript; charset=utf-8',
    css: 'text/css; charset=utf-8',
    json: 'application/json',
    txt: 'text/plain; charset=utf-8',
    svg: 'image/svg+xml',
    png: 'image/png',
    ico: 'image/x-icon',
    webmanifest: 'application/manifest+json',
  }),
)

/** Paths below these are files of pages. All others go to the services, without a build. */
const PREFIXES = ['/assets/', ...PAGES.map(({ path }) => path).filter((path) => path !== '/')]
const AT_ROOT = PAGES.some(({ path }) => path === '/')
  ? ['/', '/index.html', '/sw.js', '/manifest.webmanifest', '/robots.txt', '/favicon.ico']
  : []

/** Whether a path may belong to a page. Other requests cost nothing more. */
export const mayBePage = (path: string): boolean =>
  AT_ROOT.includes(path) || PREFIXES.some((prefix) => path.startsWith(prefix) || `${path}/` === prefix)

/**
 * Each page contains the event's name, languages and the towns around its route, so a change of these needs another
 * build.
 * @returns the answer for a path that {@link mayBePage}; null when no page has it
 */
export function pageServer(
  settings: PageSettings,
  event: { readonly current: PageEvent },
): (request: Request, path: string) => Promise<Response | null> {
  let site: Promise<Site> | undefined
  let builtFor: PageEvent | undefined
  let key: string | undefined
  let tiles: Promise<MapTiles | null> | undefined
  const stored = new Map<string, Stored>()

  const find = async (path: string): Promise<Stored | null> => {
    const { current } = event
    const now = current === builtFor ? key : siteKey(settings, current)
    builtFor = current
    if (key !== now) {
      key = now
      // Open pages continue to load the scripts of their own build.
      site = Promise.all([site?.catch(() => undefined), buildPages(settings, current)]).then(
        ([before, built]) => new Map([...(before ?? []), ...built]),
      )
      stored.clear()
    }
    const file = path.endsWith('/') ? `${path}index.html` : path
    const built = await site!
    const bytes = built.get(file)
    if (bytes === undefined) return null
    const known = stored.get(file)
    if (known !== undefined) return known
    const made = {
      bytes,
      etag: `"${Bun.hash(bytes).toString(36)}"`,
      type: TYPES.get(file.slice(file.lastIndexOf('.') + 1)) ?? 'application/octet-stream',
      forms: compress(file, bytes),
    }
    stored.set(file, made)
    return made
  }

  return async (request, path) => {
    if (path.endsWith('.pmtiles')) {
      const archive = await (tiles ??= mapTilesOf(settings))
      return archive?.path === path ? answerTiles(request, archive) : null
    }
    const found = await find(path)
    if (found !== null) return answer(request, path, found)
    const isFolder = (await find(`${path}/`)) !== null
    const { search } = new URL(request.url)
    return isFolder ? new Response(null, { status: 308, headers: { Location: `${path}/${search}` } }) : null
  }
}

function headersOf(request: Request, path: string, etag: string): Headers | Response {
  const requestId = request.headers.get('x-request-id') ?? ''
  const headers = new Headers({
    'X-Request-Id': /^[\w.:-]{1,64}$/.test(requestId) ? requestId : crypto.randomUUID(),
  })
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    headers.set('Allow', 'GET, HEAD')
    const body = { error: NOT_ALLOWED, code: 'method-not-allowed', request_id: headers.get('X-Request-Id') }
    return Response.json(body, { status: 405, headers })
  }
  headers.set('Content-Security-Policy', policyOf(path))
  headers.set('Cache-Control', cacheControlOf(path))
  headers.set('ETag', etag)
  return headers
}

/** The archive of map tiles, which browsers read in parts. */
async function answerTiles(request: Request, { path, file }: MapTiles): Promise<Response> {
  const headers = headersOf(request, path, `"${path.slice(path.lastIndexOf('-') + 1)}"`)
  return headers instanceof Response ? headers : partOf(request, Bun.file(file), headers)
}

function answer(request: Request, path: string, { bytes, etag, type, forms }: Stored): Response {
  const headers = headersOf(request, path, etag)
  if (headers instanceof Response) return headers
  headers.set('Vary', 'Accept-Encoding')
  if (matchesEtag(request, etag)) return new Response(null, { status: 304, headers })
  headers.set('Content-Type', type)
  const encoding = ENCODINGS.find((name) => forms[name] !== undefined && accepts(request, name))
  if (encoding !== undefined) headers.set('Content-Encoding', encoding)
  const body = encoding === undefined ? bytes : forms[encoding]!
  headers.set('Content-Length', `${body.length}`)
  return new Response(request.method === 'HEAD' ? null : (body as Uint8Array<ArrayBuffer>), { headers })
}

const NOT_ALLOWED = 'This address supports the methods GET and HEAD.'

/** Whether `Accept-Encoding` names the encoding, other than with `q=0`. */
const accepts = (request: Request, encoding: Encoding): boolean =>
  (request.headers.get('accept-encoding') ?? '')
    .split(',')
    .map((part) => part.trim().toLowerCase())
    .some((part) => part.split(';')[0]!.trim() === encoding && !/;\s*q=0(\.0*)?$/.test(part))

/** First and last byte of a range. `whole`: no range, or one that may be ignored; `none`: outside the file. */
function rangeOf(header: string | null, size: number): readonly [number, number] | 'whole' | 'none' {
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return 'whole'
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const last = from === '' || to === '' ? size - 1 : Math.min(size - 1, Number(to))
  if (from !== '' && to !== '' && Number(to) < Number(from)) return 'whole'
  return first > last ? 'none' : [first, last]
}

/** @param headers of the answer, including `ETag` */
function partOf(request: Request, file: BunFile, headers: Headers): Response {
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

/** The pages: where each one is served, and what it may load. A new page is a new row. */

export interface PageEntry {
  /** Folder of its sources: `page.tsx` and `page.css`. */
  readonly folder: string
  /** Where it is served, with a slash at the end. */
  readonly path: string
  /** Title before the page has chosen its language; `%s` stands for the name of the event. */
  readonly title: string
  /** For previews in chats. `zh` is put before it where the event's own language is Chinese. */
  readonly description: { readonly zh?: string; readonly en: string }
  /** It has a service worker and opens without a network. */
  readonly offline?: boolean
  /** Names of its scripts that the service worker does not keep: they need a network anyway. */
  readonly onlineOnly?: readonly string[]
  /**
   * Names of its scripts that only an event with LINE identity loads; elsewhere the service worker does not keep
   * them.
   */
  readonly lineOnly?: readonly string[]
  /** It can be installed. `display` as in a web app manifest. */
  readonly app?: { readonly display: 'standalone' | 'fullscreen'; readonly shortName: string }
  /** Answers that the page asks for at once; the browser begins before the script runs. */
  readonly preload?: readonly string[]
  /** Data files that the page loads, by the names of `DATA_FILES` in build/build-pages.ts. */
  readonly data?: readonly string[]
  /** It offers a detailed map where the event has tiles for one. */
  readonly detailedMap?: boolean
  /** A service makes its HTML, which names script and style as `page.js` and `page.css` in the page's folder. */
  readonly byService?: boolean
  /** Directives that differ from {@link POLICY}. proxy/pages.caddy must have the same; a test compares them. */
  readonly policy?: Readonly<Record<string, string>>
}

export const PAGES: readonly PageEntry[] = [
  {
    folder: 'map',
    path: '/',
    title: '%s',
    description: {
      zh: '隊伍在哪裡、何時到達各站',
      en: 'Where everybody is, and when they arrive',
    },
    offline: true,
    app: { display: 'standalone', shortName: '%s' },
    data: ['counties', 'towns'],
    detailedMap: true,
    // Tiles need a network anyway, and the stream is for operators.
    onlineOnly: ['draw-tiles', 'stream'],
  },
  {
    folder: 'console',
    path: '/admin/',
    title: '%s',
    description: { en: 'The console of the event’s operators' },
    data: ['counties'],
  },
  {
    folder: 'walk',
    path: '/walk/',
    title: '%s',
    description: { zh: '打卡、記錄、分享', en: 'Check in, record and share the pilgrimage' },
    offline: true,
    onlineOnly: ['stream'],
    lineOnly: ['line-sdk'],
    app: { display: 'standalone', shortName: '%s' },
    data: ['counties', 'towns'],
    policy: {
      // LINE's SDK asks LINE who is logged in.
      'connect-src': "'self' https://api.line.me",
    },
  },
  {
    folder: 'share',
    path: '/share/',
    title: '%s',
    description: { en: 'A link to pass on, at /s/<id>' },
    byService: true,
    data: ['counties', 'towns'],
  },
  {
    folder: 'not-found',
    path: '/404/',
    title: '404 · %s',
    description: { en: 'There is no page at this address' },
  },
]

/** The page for unknown addresses. */
export const NOT_FOUND = '/404/'
/** Addresses that are no page's: their answers are for programs, or a service makes the page. */
const OTHERS = /^\/(?:api\/|health$|s\/|livez|readyz|metrics|assets\/)/

/** Whether somebody has typed this address, or followed a link to it. proxy/pages.caddy has the same rule. */
export const isForPeople = ({ method, headers }: Request, path: string): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  (headers.get('accept') ?? '').includes('text/html') &&
  !OTHERS.test(path)

/** Content security policy of every page. Scripts, styles and data come from the service itself. */
const POLICY: Readonly<Record<string, string>> = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data: blob:",
  'font-src': "'self'",
  'connect-src': "'self'",
  'manifest-src': "'self'",
  'worker-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
}

const policyText = (own: PageEntry['policy'] = {}): string =>
  Object.entries({ ...POLICY, ...own })
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join('; ')

/** Policy of the page at a path of this server, or of a file of that page. */
export function policyOf(path: string): string {
  const page = PAGES.find((candidate) => candidate.path !== '/' && path.startsWith(candidate.path))
  return policyText((page ?? PAGES.find((candidate) => candidate.path === '/'))?.policy)
}

/** A file whose name holds a hash of its content never changes. */
export const cacheControlOf = (path: string): string =>
  path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache'

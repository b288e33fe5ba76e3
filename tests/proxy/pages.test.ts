/**
 * Serving pages: the same files with the same headers from Caddy and the embedded run, at both host names.
 */
import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PAGES, policyOf } from '#proxy/pages/pages.ts'
import { buildPages, type Site, siteKey } from '#proxy/pages/build/build-pages.ts'
import { ENDINGS } from '#proxy/pages/build/compress.ts'
import { writeSite } from '#proxy/pages/build/write-site.ts'
import { createRoute } from '#shared/core/map/walking-route.ts'
import { firstEvent } from '#shared/pilgrims/event-settings.ts'
import { readConfig } from '#shared/runtime/config/config.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'

const SETTINGS = { EVENT_NAME: '白沙屯媽祖進香', EVENT_PUBLIC_URL: 'https://walk.test' }
const config = readConfig(SETTINGS)
const event = firstEvent(config)
const site = await buildPages(config, event)
const renamed = await buildPages(config, {
  ...event,
  name: '</script><script>alert("1")</script>&amp;',
})
const hashed = [...site.keys()].filter((path) => path.startsWith('/assets/'))
const named = [...site.keys()].filter((path) => !path.startsWith('/assets/'))

test('bots may read the pages and the links that are passed on, and no answer of the API but the cards', () => {
  expect(new TextDecoder().decode(site.get('/robots.txt'))).toBe(
    'User-agent: *\nAllow: /api/event/og/\nDisallow: /api/\nAllow: /\n',
  )
})

test('LINE’s SDK is kept for a dead zone only where pilgrims log in with LINE', () => {
  const worker = new TextDecoder().decode(site.get('/walk/sw.js'))
  expect(worker).toContain('/assets/walk-')
  expect(worker).not.toContain('line-sdk')
})

test('another page makes another service worker, because the kept page comes before the network', () => {
  const scripts = (of: Site) =>
    [...of.keys()].filter((path) => path.endsWith('.js') && path !== '/walk/sw.js')
  expect(scripts(renamed)).toEqual(scripts(site))
  expect(Bun.hash(renamed.get('/walk/sw.js')!)).not.toBe(Bun.hash(site.get('/walk/sw.js')!))
})

test('pages of another time zone, language or route of the same length are not taken for these', () => {
  const line = [
    { lat: 51.84, lng: 5.86 },
    { lat: 51.9, lng: 5.9 },
  ]
  const keys = [
    siteKey(config, event),
    siteKey({ ...config, timeZone: 'Europe/Amsterdam' }, event),
    siteKey({ ...config, surveyUrl: 'https://survey.test/' }, event),
    siteKey(config, { ...event, languages: event.languages.slice(1) }),
    siteKey(config, { ...event, route: createRoute([line]) }),
    siteKey(config, { ...event, route: createRoute([line.toReversed()]) }),
  ]
  expect(new Set(keys).size).toBe(keys.length)
  expect(siteKey(config, { ...event })).toBe(keys[0]!)
})

test('a build deletes what is left of older ones, and nothing that another build is writing', async () => {
  const directory = await newDirectory('site')
  const [left, beingWritten, killed] = ['/index.html', '/map.pmtiles.1.new', '/assets/a.js.2.new']
  mkdirSync(join(directory, 'assets'))
  for (const path of [left, beingWritten, killed]) writeFileSync(join(directory, path), '')
  const twoHoursAgo = Date.now() / 1_000 - 7_200
  utimesSync(join(directory, killed), twoHoursAgo, twoHoursAgo)
  const built = new Map(['/walk/index.html', '/assets/b.js'].map((path) => [path, new Uint8Array(1_000)]))
  for (let i = 0; i < 3; i++) writeSite(built, directory)
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length))
  for (const path of ['/walk/index.html', '/assets/b.js', '/assets/b.js.br', beingWritten])
    expect(files).toContain(path)
  expect(files).not.toContain(left)
  expect(files).not.toContain(killed)
  rmSync(directory, { recursive: true })
})

test('the event’s name cannot break out of the HTML', () => {
  for (const { path } of PAGES.filter(({ byService }) => !byService)) {
    const html = new TextDecoder().decode(renamed.get(`${path}index.html`))
    expect(html.match(/<script/g)).toHaveLength(2)
    expect(html).not.toContain('alert("1")</script>')
  }
})

describeBothStacks(
  'pages',
  (stack) => {
    const bare = { 'Accept-Encoding': 'identity' }

    // The stack has built them itself: builds of the same sources are byte-identical.
    test('each file is served whole, at both host names, with its type and its policy', async () => {
      for (const host of ['localhost', '127.0.0.1'] as const)
        for (const [file, bytes] of site) {
          const path = file.replace(/\/index\.html$/, '/')
          const answer = await stack.fetch(path, { headers: bare }, host)
          expect({ path, status: answer.status }).toEqual({ path, status: 200 })
          expect(Bun.hash(new Uint8Array(await answer.arrayBuffer()))).toBe(Bun.hash(bytes))
          const { headers } = answer
          expect(headers.get('content-security-policy')).toBe(policyOf(path))
          expect(headers.get('x-content-type-options')).toBe('nosniff')
          expect(headers.get('x-frame-options')).toBe('DENY')
          expect(headers.get('referrer-policy')).toBe('no-referrer')
          expect(headers.get('x-request-id')).toMatch(/^[\w-]{8,}$/)
          expect(headers.get('content-type')).toMatch(TYPES[file.slice(file.lastIndexOf('.'))]!)
        }
    })

    test('a hashed file is kept for ever, a named one is asked for again and is not sent twice', async () => {
      for (const path of hashed)
        expect((await stack.fetch(path)).headers.get('cache-control')).toBe(
          'public, max-age=31536000, immutable',
        )
      for (const file of named) {
        const path = file.replace(/\/index\.html$/, '/')
        const first = await stack.fetch(path)
        expect(first.headers.get('cache-control')).toBe('no-cache')
        const again = await stack.fetch(path, { headers: { 'If-None-Match': first.headers.get('etag')! } })
        expect([again.status, await again.text()]).toEqual([304, ''])
      }
    })

    test.each(['br', 'zstd', 'gzip'])('%s: compressed ahead of time', async (encoding) => {
      const path = hashed.find((one) => one.endsWith('.css'))!
      const headers = { 'Accept-Encoding': encoding }
      const answer = await stack.fetch(path, { headers, decompress: false } as RequestInit)
      expect(answer.headers.get('content-encoding')).toBe(encoding)
      expect(answer.headers.get('vary')).toContain('Accept-Encoding')
      expect((await answer.arrayBuffer()).byteLength).toBeLessThan(site.get(path)!.length / 2)
    })

    test('HEAD answers without a body, other methods get 405, a folder gets its slash, what is missing 404', async () => {
      const { path } = PAGES[0]!
      const head = await stack.fetch(path, { method: 'HEAD' })
      expect([head.status, await head.text()]).toEqual([200, ''])
      const post = await stack.fetch(path, { method: 'POST', body: 'x' })
      expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
      expect(await post.json()).toMatchObject({ code: 'method-not-allowed', error: expect.any(String) })
      const folder = await stack.fetch('/walk', { redirect: 'manual' })
      expect([folder.status, folder.headers.get('location')]).toEqual([308, '/walk/'])
      const code = await stack.fetch('/walk?code=abc&x=%20', { redirect: 'manual' })
      expect([code.status, code.headers.get('location')]).toEqual([308, '/walk/?code=abc&x=%20'])
      for (const missing of ['/walk/none', '/assets/none.js', '/assets/', '/assets/../../etc/passwd'])
        expect((await stack.fetch(missing)).status).toBe(404)
    })

    test('a compressed form and the list of files have no address', async () => {
      const forms = ['/index.html', hashed.find((path) => path.endsWith('.css'))!].flatMap((file) =>
        Object.values(ENDINGS).map((ending) => file + ending),
      )
      const list = ['/.files.json', '/%2efiles.json', '//.files.json', '/assets/../.files.json']
      for (const path of [...list, ...forms, forms[0]!.toUpperCase(), forms[0]!.replace('.br', '%2Ebr')])
        for (const host of ['localhost', '127.0.0.1'] as const) {
          const { status } = await stack.fetch(path, { redirect: 'manual' }, host)
          expect({ path, status }).toEqual({ path, status: 404 })
        }
    })

    test('an address that is no page: a page for a person, the error for a program', async () => {
      const notFound = Bun.hash(site.get('/404/index.html')!)
      const accept = 'text/html,application/xhtml+xml,*/*;q=0.8'
      for (const path of ['/nothing-here', '/s', '/walk/none', '/admin/x/y', '/%E5%AA%BD']) {
        const page = await stack.fetch(path, { headers: { ...bare, accept } })
        expect([path, page.status]).toEqual([path, 404])
        expect(page.headers.get('content-type')).toMatch(/^text\/html/)
        expect(page.headers.get('content-security-policy')).toBe(policyOf('/404/'))
        expect(Bun.hash(new Uint8Array(await page.arrayBuffer()))).toBe(notFound)
        const program = await stack.fetch(path, { headers: { accept: '*/*' } })
        expect(await program.json()).toMatchObject({ code: 'not-found', request_id: expect.any(String) })
      }
      for (const path of ['/api/event/nothing', '/assets/none.js', '/metrics'])
        expect((await stack.fetch(path, { headers: { accept } })).status).toBe(404)
      expect(await (await stack.fetch('/api/event/nothing', { headers: { accept } })).json()).toMatchObject({
        code: 'not-found',
      })
    })
  },
  SETTINGS,
)

const TYPES: Readonly<Record<string, RegExp>> = {
  '.html': /^text\/html/,
  '.txt': /^text\/plain/,
  '.ico': /^image\/x-icon/,
  '.js': /^text\/javascript/,
  '.css': /^text\/css/,
  '.json': /^application\/json/,
  '.svg': /^image\/svg\+xml/,
  '.png': /^image\/png/,
  '.webmanifest': /^application\/manifest\+json/,
}

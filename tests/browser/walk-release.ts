/**
 * A new release of the pages while they are open: other scripts with other names, and another service worker.
 */
import { join } from 'node:path'
import type { QueuedPoint, QueueStore } from '#shared/client/index.ts'
import type { BrowserContext, Page } from 'playwright-core'
import { buildPages } from '#proxy/pages/build/build-pages.ts'
import { writeSite } from '#proxy/pages/build/write-site.ts'
import { firstEvent } from '#shared/pilgrims/event-settings.ts'
import { readConfig } from '#shared/runtime/config/config.ts'
import type { RealTestStack } from '#tests/helpers/test-stack-real.ts'

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
const textOf = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes)

/** Replaces the served release by the next one. Each call creates another release. */
export async function releaseAgain({ settings, pagesDirectory }: RealTestStack): Promise<void> {
  const config = readConfig(settings)
  const site = new Map(await buildPages(config, firstEvent(config)))
  const release = crypto.randomUUID().slice(0, 8)
  // Scripts import each other by name, so all of them get new names.
  const scripts = [...site.keys()].filter((path) => /^\/assets\/walk-.*\.js$/.test(path))
  const named = (text: string): string =>
    scripts.reduce((renamed, path) => renamed.replaceAll(path, path.replace('.js', `${release}.js`)), text)
  for (const path of scripts) {
    site.set(named(path), utf8(`${named(textOf(site.get(path)))}\n//${release}`))
    site.delete(path)
  }
  site.set('/walk/index.html', utf8(named(textOf(site.get('/walk/index.html')))))
  // Its cache name changes with the names of its files.
  const worker = named(textOf(site.get('/walk/sw.js'))).replaceAll('"/walk/ ', `"/walk/ ${release}-`)
  site.set('/walk/sw.js', utf8(worker))
  writeSite(site, pagesDirectory)
}

const QUEUE = join(import.meta.dir, '../../shared/client/queue')
/** The store script of the next release: its schema has one step more. */
async function nextRelease(): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: ['/newer.ts'],
    files: {
      '/newer.ts': `
      import { openIndexedDbStore, SCHEMA_STEPS } from '${QUEUE}/indexed-db-store.ts'
      import { deleteDB } from '${join(import.meta.dir, '../../node_modules/idb/build/index.js')}'
      const addNotes = (db) => void db.createObjectStore('notes')
      globalThis.store = await openIndexedDbStore('walk', { steps: [...SCHEMA_STEPS, addNotes] })
      globalThis.toOldRelease = async (points) => {
        const values = await store.values()
        await store.close()
        await deleteDB('walk')
        const older = await openIndexedDbStore('walk')
        await older.add(points)
        await older.setValues(values)
        await older.close()
      }`,
    },
    target: 'browser',
  })
  return outputs[0]!.text()
}

/** Globals of a page of the next release. */
export interface NextRelease {
  readonly store: QueueStore
  readonly toOldRelease: (points: readonly QueuedPoint[]) => Promise<void>
}

/** Opens a page of the same origin with the next release's store. */
export async function openNextRelease(context: BrowserContext, address: string): Promise<Page> {
  const script = await nextRelease()
  const page = await context.newPage()
  await page.route('**/newer', (route) =>
    route.fulfill({ contentType: 'text/html', body: `<script type="module">${script}</script>` }),
  )
  await page.goto(new URL('/newer', address).href)
  await page.waitForFunction(() => 'store' in globalThis)
  return page
}

/** A new release of the pages while people have them open: other scripts under other names, and another service worker. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildPages } from '#proxy/pages/build/build-pages.ts'
import { writeSite } from '#proxy/pages/build/write-site.ts'
import { type Environment, readConfig } from '#shared/config/config.ts'

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
const textOf = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes)

/** The folder from which Caddy serves the pages of an event with this name. */
function folderOf(name: string): string {
  const root = process.env.TEST_DIRECTORY!
  const folder = readdirSync(root)
    .filter((entry) => entry.startsWith('pages-'))
    .map((entry) => join(root, entry))
    .find((entry) => {
      const page = join(entry, 'walk/index.html')
      return existsSync(page) && readFileSync(page, 'utf8').includes(name)
    })
  if (folder === undefined) throw new Error(`no pages of "${name}" are in ${root}`)
  return folder
}

/** Writes the next release over the one that is served. */
export async function releaseAgain(settings: Environment): Promise<void> {
  const site = new Map(await buildPages(readConfig(settings)))
  const html = textOf(site.get('/walk/index.html'))
  const script = /<script type="module" src="([^"]+)"/.exec(html)![1]!
  const next = script.replace('.js', 'next.js')
  site.set(next, utf8(`${textOf(site.get(script))}\n//next`))
  site.delete(script)
  site.set('/walk/index.html', utf8(html.replaceAll(script, next)))
  // The name of its cache changes with the names of its files.
  const worker = textOf(site.get('/walk/sw.js'))
    .replaceAll(script, next)
    .replaceAll('"/walk/ ', '"/walk/ next-')
  site.set('/walk/sw.js', utf8(worker))
  writeSite(site, folderOf(settings.EVENT_NAME!))
}

/** The scripts and styles of a page, under names that contain a hash of their content. */
import { basename, join } from 'node:path'
import type { PageEntry } from '../pages.ts'

const ROOT = join(import.meta.dir, '..')

export interface Bundle {
  /** Every file, by its path on the server. */
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly script: string
  readonly style: string
  /** Scripts that the first one imports. */
  readonly imports: readonly string[]
  /** Scripts loaded on demand, such as the words of a language. */
  readonly later: readonly string[]
}

type Result = Awaited<ReturnType<typeof Bun.build>>['outputs'][number]

const pathOf = (output: Result): string => `/assets/${basename(output.path)}`
const bytesOf = async (output: Result): Promise<Uint8Array> => new Uint8Array(await output.arrayBuffer())

/**
 * @param define constants of the page; code that they exclude is not built
 * @param root parent of the page's folder
 * @throws AggregateError when a source does not compile
 */
export async function bundlePage(
  { folder }: PageEntry,
  define: Readonly<Record<string, string>> = {},
  root = ROOT,
): Promise<Bundle> {
  const { outputs } = await Bun.build({
    entrypoints: [join(root, folder, 'page.tsx'), join(root, folder, 'page.css')],
    root,
    target: 'browser',
    format: 'esm',
    splitting: true,
    minify: true,
    define: { 'process.env.NODE_ENV': '"production"', ...define },
    naming: {
      entry: `${folder}-[hash].[ext]`,
      chunk: `${folder}-[name]-[hash].[ext]`,
      asset: `${folder}-[hash].[ext]`,
    },
    publicPath: '/assets/',
  })
  const files = new Map<string, Uint8Array>()
  for (const output of outputs) files.set(pathOf(output), await bytesOf(output))
  const entry = (ending: string): Result =>
    outputs.find(({ kind, path }) => kind === 'entry-point' && path.endsWith(ending)) ??
    outputs.find(({ path }) => path.endsWith(ending))!
  const script = entry('.js')
  const imports = importsOf(await script.text())
  const scripts = [...files.keys()].filter((path) => path.endsWith('.js') && path !== pathOf(script))
  return {
    files,
    script: pathOf(script),
    style: pathOf(entry('.css')),
    imports,
    later: scripts.filter((path) => !imports.includes(path)),
  }
}

/** Static imports of a minified module. */
const importsOf = (code: string): string[] => [
  ...new Set([...code.matchAll(/(?:from|import)\s*"(\/assets\/[^"]+\.js)"/g)].map(([, path]) => path!)),
]

/**
 * The service worker of a page.
 * @param html the page, which has no hash in its name: its content changes the worker
 * @param files paths to cache with the page
 */
export async function bundleWorker(
  page: PageEntry,
  html: string,
  files: readonly string[],
): Promise<Uint8Array> {
  const kept = [page.path, ...files]
  const version = Bun.hash([html, ...kept].join('\n')).toString(36)
  const { outputs } = await Bun.build({
    entrypoints: [join(ROOT, 'frame/service-worker.ts')],
    target: 'browser',
    minify: true,
    define: {
      CACHE: JSON.stringify(`${page.path} ${version}`),
      FILES: JSON.stringify(kept),
      PAGE: JSON.stringify(page.path),
    },
  })
  return bytesOf(outputs[0]!)
}

/**
 * Generates the client's types and operations, `shared/client/api.ts`, from the contracts. `bun install` runs it, and
 * the result is not committed. It runs again only when a source has changed: composing the document takes 0.5 s.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const SHARED = join(import.meta.dir, '../..')
const MODULE = join(SHARED, 'client/api.ts')
/** The sources: the contracts, the writer with everything it imports from its folder, and the version of zod. */
const SOURCES = [...new Bun.Glob('{contracts,service}/**/*.ts').scanSync({ cwd: SHARED })]
  .sort()
  .concat('../package.json')
  .map((path) => readFileSync(join(SHARED, path), 'utf8'))
const mark = `// Made by generate-client.ts: ${Bun.hash(SOURCES.join('\n')).toString(36)}\n`

if (!existsSync(MODULE) || !readFileSync(MODULE, 'utf8').startsWith(mark)) {
  const { clientModule } = await import('./write-client.ts')
  // Renamed when complete: a page may be built meanwhile.
  const whole = `${MODULE}.${process.pid}`
  writeFileSync(whole, mark + clientModule())
  renameSync(whole, MODULE)
}

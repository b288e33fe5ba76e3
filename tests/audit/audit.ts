/** `bun run audit`: queries the registry for known vulnerabilities of the packages in bun.lock. */
import { join } from 'node:path'
import { readCommandLine } from '#shared/runtime/command-line.ts'

const USAGE = `Asks the package registry for known faults of the packages in bun.lock that are high or critical.

  bun run audit [--help]

Exit codes: 0 none, or no registry answers, which it says; 1 a fault; 2 wrong command line.`

readCommandLine(USAGE, {})
const child = Bun.spawn([process.execPath, 'audit', '--json', '--audit-level=high'], {
  cwd: join(import.meta.dir, '../..'),
  stdio: ['ignore', 'pipe', 'ignore'],
})
const text = await new Response(child.stdout).text()
const code = await child.exited
try {
  const faults = Object.keys(JSON.parse(text) as object)
  console.log(faults.length === 0 ? 'No known fault that is high or critical.' : text)
  process.exitCode = code
} catch {
  console.log('Not checked for known faults: no registry answers.')
}

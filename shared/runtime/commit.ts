/** The commit of the code that runs. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '../..')
const WAIT_MS = 10_000

/**
 * Finds the commit: the image names the one that it was built from, and a checkout is asked. Nothing is guessed.
 * @param revision as the image names it; empty: it does not
 * @param root the folder of the code
 * @returns 40 hex digits, of a checkout with `-dirty` where files differ from the commit; null: not known
 */
export async function readCommit(revision: string, root = ROOT): Promise<string | null> {
  if (revision !== '') return revision
  const git = Bun.which('git')
  // A checkout around the folder of the code has other commits.
  if (git === null || !existsSync(join(root, '.git'))) return null
  const command = [git, 'describe', '--always', '--abbrev=40', '--dirty', '--exclude=*']
  const asked = Bun.spawn(command, {
    cwd: root,
    env: { GIT_OPTIONAL_LOCKS: '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: WAIT_MS,
  })
  const answer = (await new Response(asked.stdout).text()).trim()
  return (await asked.exited) === 0 && /^[0-9a-f]{40}(-dirty)?$/.test(answer) ? answer : null
}

/** Commit of the running code. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '../..')
const WAIT_MS = 10_000

/**
 * Finds the commit: an image names the commit it was built from; in a checkout, git is asked. Nothing is
 * guessed.
 * @param revision as named by the image; empty: not named
 * @param root the folder of the code
 * @returns 40 hex digits, with `-dirty` for a checkout whose files differ from the commit; null: unknown
 */
export async function readCommit(revision: string, root = ROOT): Promise<string | null> {
  if (revision !== '') return revision
  const git = Bun.which('git')
  // A repository around the folder of the code has other commits.
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

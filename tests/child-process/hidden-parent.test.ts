/** A child process compromised by an untrusted picture cannot read its parent's secrets in /proc. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'

const PROGRAM = join(import.meta.dir, 'read-own-environment.ts')

/**
 * Root without the capabilities to read every process. It stays root, because another user could not enter a
 * checkout below /root. CAP_DAC_READ_SEARCH is kept for a checkout owned by another user; it gives no access
 * to processes.
 */
const WITHOUT_CAPABILITIES = ['setpriv', '--bounding-set=-all,+dac_read_search', '--inh-caps=-all']

/** What a child can read of its parent's environment. @param hides whether the parent hides itself */
async function readByChild(hides: boolean): Promise<string> {
  const isRoot = process.getuid?.() === 0
  const command = [process.execPath, PROGRAM, hides ? 'hide' : 'stay']
  const child = Bun.spawn([...(isRoot ? WITHOUT_CAPABILITIES : []), ...command], {
    env: { EVENT_ADMIN_TOKEN: 'a-secret-of-the-service' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return new Response(child.stdout).text()
}

test.skipIf(process.platform !== 'linux')(
  'the environment of a parent is hidden from its child',
  async () => {
    expect(await readByChild(false)).toContain('a-secret-of-the-service')
    expect(await readByChild(true)).toBe('exit 1: ')
  },
)

/** A child that an untrusted picture has taken over does not read its parent's secrets in /proc. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'

const PROGRAM = join(import.meta.dir, 'read-own-environment.ts')

/**
 * Root without the capabilities that let it read every process. It remains root, because another user could not enter a
 * checkout below /root. CAP_DAC_READ_SEARCH is kept for a checkout of another user; it opens no process.
 */
const WITHOUT_CAPABILITIES = ['setpriv', '--bounding-set=-all,+dac_read_search', '--inh-caps=-all']

/** What a child reads of the environment of its parent. @param hides whether the parent hides itself */
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

/** A child that an untrusted picture has taken over does not read its parent's secrets in /proc. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'

const PROGRAM = join(import.meta.dir, 'read-own-environment.ts')

/** What a child of a process of an ordinary user reads of it. @param hides whether the process hides itself */
async function readByChild(hides: boolean): Promise<string> {
  const isRoot = process.getuid?.() === 0
  const asUser = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--bounding-set=-all']
  const child = Bun.spawn([...(isRoot ? asUser : []), process.execPath, PROGRAM, hides ? 'hide' : 'stay'], {
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

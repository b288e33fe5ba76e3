/** What ends a service's process, and what does not. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'

/** Exit code of a process that leaves a rejection with this code to nobody, and then goes on for a moment. */
async function endOf(code: string): Promise<number> {
  const script = `
    import { createLog } from '#shared/log.ts'
    import { watchRejections } from '#shared/service.ts'
    watchRejections(createLog())
    void Promise.reject(Object.assign(new Error('broken'), { code: ${JSON.stringify(code)} }))
    setTimeout(() => process.exit(7), 200)`
  const child = Bun.spawn([process.execPath, '--no-env-file', '-e', script], {
    cwd: join(import.meta.dir, '..'),
    stdout: 'ignore',
    stderr: 'ignore',
  })
  return child.exited
}

test('a connection that breaks while it opens ends nothing; any other rejection that nobody saw does', async () => {
  expect(await endOf('CONNECTION_CLOSED')).toBe(7)
  expect(await endOf('SOMETHING_ELSE')).toBe(1)
})

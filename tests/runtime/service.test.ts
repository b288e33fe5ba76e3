/** Which errors end a service's process. */
import { expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { lockDataDirectory } from '#shared/runtime/data-directory-lock.ts'
import { newDirectory, runCommand } from '#tests/helpers/process.ts'

/** Exit code of a process that leaves a rejection with this code unhandled, and then continues briefly. */
async function endOf(code: string): Promise<number> {
  const script = `
    import { createLog } from '#shared/runtime/log.ts'
    import { watchUncaughtErrors } from '#shared/service/service.ts'
    watchUncaughtErrors(createLog())
    import { watchUncaughtErrors } from '#shared/service/service.ts'
    void Promise.reject(Object.assign(new Error('broken'), { code: ${JSON.stringify(code)} }))
    setTimeout(() => process.exit(7), 200)`
  const child = Bun.spawn([process.execPath, '--no-env-file', '-e', script], {
    cwd: join(import.meta.dir, '../..'),
    stdout: 'ignore',
    stderr: 'ignore',
  })
  return child.exited
}

test('a start with faulty settings fails immediately and names all of them and the misspelt ones', async () => {
  const dir = await newDirectory('faulty')
  const unlock = lockDataDirectory(dir)
  const { code, out, err } = await runCommand([process.execPath, '--no-env-file', 'proxy/local.ts'], {
    env: { EVENT_DATA_DIR: dir, EVENT_PORT: 'many', EVENT_ROUTE: `${dir}/none`, EVENT_ADMN_TOKEN: 'secret' },
    timeout: 10_000,
  })
  const told = out + err
  expect(code).toBe(1)
  for (const name of ['EVENT_PORT', 'EVENT_ROUTE', 'EVENT_ADMN_TOKEN']) expect(told).toContain(name)
  expect(told).not.toContain('secret')
  unlock()
  await rm(dir, { recursive: true })
})

test('a connection that breaks while it opens does not end the process; any other unhandled rejection does', async () => {
  expect(await endOf('CONNECTION_CLOSED')).toBe(7)
  expect(await endOf('SOMETHING_ELSE')).toBe(1)
})

test.each([
  ['in a timer', 'setTimeout(() => { throw error }, 1)'],
  ['in a promise', 'void Promise.reject(error)'],
  ['at the start', 'throw error'],
  ['while the start waits', 'await Promise.reject(error)'],
])('an error that nobody catches %s ends the process, and its values are not told', async (_, fails) => {
  const script = `
    import { createLog } from '#shared/runtime/log.ts'
    import { watchUncaughtErrors } from '#shared/service/service.ts'
    watchUncaughtErrors(createLog())
    const value = ['0912', '345678'].join('')
    const error = Object.assign(new TypeError(value), { code: 'E_BROKEN', params: [value], cause: new Error(value) })
    ${fails}
    setTimeout(() => process.exit(7), 2_000)`
  const { code, out, err } = await runCommand([process.execPath, '--no-env-file', '-e', script])
  const told = out + err
  expect(code).toBe(1)
  expect(told).toContain('TypeError E_BROKEN')
  expect(told).not.toContain('0912345678')
})

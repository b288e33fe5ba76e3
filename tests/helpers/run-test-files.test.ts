/** `bun run test` on a slow machine: slow tests pass, and broken ones fail. */
import { expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { newDirectory } from './process.ts'
import { type Result, runTestFiles } from './run-test-files.ts'

const HEAD = `
  import { afterAll, beforeAll, expect, test } from 'bun:test'
  import { existsSync, writeFileSync } from 'node:fs'
  /** Whether this file runs for the first time. */
  const isFirst = !existsSync(import.meta.path + '.ran')
  writeFileSync(import.meta.path + '.ran', '')
`
/** A set-up that exceeds its limit in the first try, and a teardown of what it did not open. */
const SLOW = `
  let stack
  beforeAll(async () => { if (isFirst) await Bun.sleep(60_000); stack = { close() {} } }, 200)
  afterAll(() => stack?.close())
  test('serves', () => {})
`
const HANGS = `
  beforeAll(() => new Promise(() => {}), 200)
  test('serves', () => {})
`
const BROKEN_SET_UP = `
  beforeAll(() => { throw new Error('no such table') })
  test('serves', () => {})
`
const UNSTEADY = `
  test('adds', () => expect(isFirst ? 3 : 2).toBe(2))
  test('other', () => {})
`
const BROKEN = `test('adds', () => expect(3).toBe(2))`
const LATE_TEST = `test('answers', () => isFirst ? new Promise(() => {}) : undefined, 200)`
/** The service's answer when the machine is too slow for its deadlines. */
const UNAVAILABLE = `
  test('answers', () => expect({ status: isFirst ? 503 : 200, text: isFirst ? '{"code":"unavailable"}' : 'a' })
    .toEqual({ status: 200, text: expect.any(String) }))
  test('draws', () => expect(isFirst ? 503 : 200).toBe(200))
`
/** Each limit is too short for a quiet machine, and fails no test on one that is five times as slow. */
const LIMITS = `
  beforeAll(() => Bun.sleep(300), 200)
  test('limit', () => Bun.sleep(300), 200)
  test.skipIf(false)('variant', () => Bun.sleep(300), 200)
  test.each([[1, 2]])('row %i %i', async (a, b) => { await Bun.sleep(300); expect(a + b).toBe(3) }, 200)
`
const OTHER_ERROR = `
  import { describe } from 'bun:test'
  describe('group', () => { throw new Error('outside of tests') })
  test('other', () => {})
`

/** Runs a checkout of these test files. @returns also which ran twice */
async function runFiles(
  bodies: readonly string[],
  slowness = 1,
): Promise<Result & { readonly again: number }> {
  const root = await newDirectory('test-run')
  const files = bodies.map((_, i) => `tests/file-${i}.test.ts`)
  let tries = 0
  try {
    for (const [i, file] of files.entries()) await Bun.write(join(root, file), HEAD + bodies[i]!)
    const result = await runTestFiles({
      options: ['--no-env-file'],
      first: ['--parallel=2'],
      files,
      directory: root,
      slowness,
      measure: async () => 1,
      async run(command, env, onStderr) {
        tries++
        const child = Bun.spawn(command, {
          cwd: root,
          env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
          stdio: ['ignore', 'ignore', 'pipe'],
        })
        for await (const chunk of child.stderr) onStderr(chunk)
        return child.exited
      },
    })
    return { ...result!, again: tries - 1 }
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

const failuresOf = ({ ran }: Result): string[] =>
  ran!.filter(({ outcome }) => outcome === 'failed').map(({ file, test }) => `${file} ${test}`)

test('set-ups that were only slow run again however many they are, and the run passes', async () => {
  const result = await runFiles([SLOW, SLOW, SLOW, SLOW, UNAVAILABLE, LATE_TEST])
  expect(result.code).toBe(0)
  expect(failuresOf(result)).toEqual([])
  expect(result.ran!.filter(({ outcome }) => outcome === 'passed')).toHaveLength(7)
  expect(new Set(result.slow.map(({ file }) => file)).size).toBe(6)
  expect(result.slow.map(({ said }) => said)).toContain('It took longer than its limit: 0 s.')
  expect(result.unsteady).toEqual([])
})

test('a set-up that hangs fails the run, and says that its limit ended', async () => {
  const result = await runFiles([HANGS, HANGS, HANGS, HANGS, HANGS])
  expect(result.code).toBe(1)
  // The first repeated failure ends the second tries; the others stay failed.
  expect(result.again).toBe(1)
  expect(failuresOf(result)).toHaveLength(5)
  expect(failuresOf(result)).toContain('tests/file-0.test.ts set-up or teardown')
})

test('a set-up with an error fails the run, beside any number of slow ones', async () => {
  const result = await runFiles([SLOW, SLOW, SLOW, SLOW, BROKEN_SET_UP])
  expect(result.code).toBe(1)
  expect(failuresOf(result)).toEqual(['tests/file-4.test.ts set-up or teardown'])
  expect(result.ran!.find(({ outcome }) => outcome === 'failed')!.said).toContain('no such table')
})

test('an expectation that is met in the second try is reported as unsteady', async () => {
  const result = await runFiles([UNSTEADY, SLOW])
  expect(result.code).toBe(0)
  expect(result.unsteady).toMatchObject([{ file: 'tests/file-0.test.ts', test: 'adds' }])
  expect(result.unsteady[0]!.said).toContain('Received: 3')
})

test('of more files with expectations that are not met, none runs again', async () => {
  const result = await runFiles([UNSTEADY, UNSTEADY, UNSTEADY, UNSTEADY, SLOW])
  expect(result).toMatchObject({ code: 1, again: 0 })
  expect(failuresOf(result).filter((failure) => failure.endsWith('adds'))).toHaveLength(4)
})

test('an expectation that is never met fails the run', async () => {
  const result = await runFiles([BROKEN, SLOW, UNSTEADY])
  expect(result.code).toBe(1)
  expect(failuresOf(result)).toContain('tests/file-0.test.ts adds')
})

test('limits are longer on a slow machine', async () => {
  const quiet = await runFiles([BROKEN, LIMITS])
  expect(failuresOf(quiet)).toContain('tests/file-1.test.ts set-up or teardown')
  const slow = await runFiles([LIMITS], 5)
  expect(slow).toMatchObject({ code: 0, again: 0 })
  expect(slow.ran).toHaveLength(3)
})

test('an error outside of tests fails the run, also when a failed test passes later', async () => {
  expect(await runFiles([OTHER_ERROR, UNSTEADY])).toMatchObject({ code: 1, again: 0 })
})

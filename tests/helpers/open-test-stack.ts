/** Opens a test stack, or runs the same tests on both. */
import { afterAll, beforeAll, describe } from 'bun:test'
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '#shared/config/config.ts'
import { described } from './openapi-check.ts'
import { startEmbedded } from './embedded.ts'
import { describeOnServers } from './suite.ts'
import { errorLinesIn, SETTINGS, type TestStack } from './test-stack.ts'
import { openRealTestStack } from './test-stack-real.ts'

/** Timeout for opening a test stack, and for closing it. */
export const STACK_TIMEOUT_MS = 60_000

/**
 * A migrated database that each test stack of a run gets a copy of, because migrating takes several times as long
 * as starting. Null outside `bun run test`, because nothing would delete the copy.
 */
async function migratedDatabase(): Promise<string | null> {
  const directory = process.env.TEST_DIRECTORY
  if (directory === undefined) return null
  const database = join(directory, 'embedded-database')
  if (existsSync(database)) return database
  const run = await startEmbedded()
  await run.stop()
  // Test files run in parallel: the directory gets its name when it is complete, and the first one stays.
  const copy = mkdtempSync(`${database}-`)
  cpSync(join(run.dataDir, 'db'), copy, { recursive: true })
  try {
    renameSync(copy, database)
  } catch (error) {
    if (!existsSync(database)) throw error
    rmSync(copy, { recursive: true })
  }
  run.remove()
  return database
}

/** Opens the embedded test stack, in a new data directory unless the settings name one. */
export async function openEmbeddedTestStack(settings: Environment = {}): Promise<TestStack> {
  const dataDir = settings.EVENT_DATA_DIR ?? mkdtempSync(join(tmpdir(), 'event-stack-'))
  const database = existsSync(join(dataDir, 'db')) ? null : await migratedDatabase()
  if (database !== null) cpSync(database, join(dataDir, 'db'), { recursive: true })
  const run = await startEmbedded({ ...SETTINGS, ...settings, EVENT_DATA_DIR: dataDir })
  const ca = readFileSync(run.caFile, 'utf8')
  const port = Number(new URL(run.url).port)
  return {
    kind: 'embedded',
    port,
    ca,
    fetch: async (path, init, host = 'localhost') =>
      described(
        path,
        init?.method ?? 'GET',
        await fetch(`https://${host}:${port}${path}`, { ...init, tls: { ca } }),
      ),
    complaints: () => errorLinesIn(run.log()),
    async close() {
      await run.stop()
      run.remove()
    },
  }
}

/**
 * Runs the same tests on both test stacks. Each is opened once for the whole block. The real one is skipped where no
 * servers run.
 */
export function describeBothStacks(
  name: string,
  tests: (stack: TestStack) => void,
  settings: Environment = {},
): void {
  const open = { embedded: openEmbeddedTestStack, real: () => openRealTestStack({ settings }) }
  for (const kind of ['embedded', 'real'] as const)
    (kind === 'real' ? describeOnServers : describe)(`${name}, ${kind}`, () => {
      let opened: TestStack | undefined
      beforeAll(async () => {
        opened = await (kind === 'real' ? open.real() : open.embedded(settings))
      }, STACK_TIMEOUT_MS)
      afterAll(async () => opened?.close(), STACK_TIMEOUT_MS)
      tests(lazily(kind, () => opened))
    })
}

/** A stack that may be passed to tests before it is open, because tests are collected first. */
function lazily(kind: TestStack['kind'], opened: () => TestStack | undefined): TestStack {
  const now = (): TestStack => {
    const stack = opened()
    if (stack === undefined) throw new Error(`the ${kind} test stack is not open`)
    return stack
  }
  return {
    kind,
    get port() {
      return now().port
    },
    get ca() {
      return now().ca
    },
    fetch: (...args) => now().fetch(...args),
    complaints: () => now().complaints(),
    close: () => now().close(),
  }
}

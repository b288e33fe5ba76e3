/** Opens a test stack, or runs the same tests on both. */
import { afterAll, beforeAll, describe, test } from 'bun:test'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '#shared/runtime/config/config.ts'
import { described } from './openapi-check.ts'
import { startEmbedded } from './embedded.ts'
import { copyMigratedDatabase } from './migrated-database.ts'
import { embeddedOnly, STACK_KINDS } from './suite.ts'
import { errorLinesIn, SETTINGS, type TestStack } from './test-stack.ts'
import { openRealTestStack } from './test-stack-real.ts'
import { TimeoutError } from './wait.ts'

/** Timeout for opening a test stack, and for closing it. */
export const STACK_TIMEOUT_MS = 60_000

/** Opens the embedded test stack, in a new data directory unless the settings name one. */
export async function openEmbeddedTestStack(settings: Environment = {}): Promise<TestStack> {
  const dataDir = settings.EVENT_DATA_DIR ?? mkdtempSync(join(tmpdir(), 'event-stack-'))
  await copyMigratedDatabase(dataDir)
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

/** Opens a test stack for tests that work on either: the real one uses less CPU. */
export const openTestStack = (settings: Environment = {}): Promise<TestStack> =>
  embeddedOnly ? openEmbeddedTestStack(settings) : openRealTestStack({ settings, apart: [] })

/** Runs the same tests on each of `STACK_KINDS`. Each is opened once for the whole block. */
export function describeBothStacks(
  name: string,
  tests: (stack: TestStack) => void,
  settings: Environment = {},
): void {
  // The real one starts while the embedded one is tested, because it takes some seconds. Not with a LINE server,
  // because both would use the same one.
  const isEarly = STACK_KINDS.length > 1 && settings.LINE_API_BASE_URL === undefined
  const real = openedOnce(() => openRealTestStack({ settings, apart: [] }))
  for (const kind of STACK_KINDS)
    describe(`${name}, ${kind}`, () => {
      let opened: TestStack | undefined
      beforeAll(async () => {
        opened = await (kind === 'real' ? real.open() : openEmbeddedTestStack(settings))
        if (kind === 'embedded' && isEarly) real.open().catch(() => undefined)
      })
      afterAll(() => (kind === 'real' ? real.close() : opened?.close()))
      tests(lazily(kind, () => opened))
    })
  // If only some tests run, none may use the real one.
  afterAll(real.close)
}

/** A stack that is opened by the first call, and closed once. */
function openedOnce(open: () => Promise<TestStack>) {
  let opening: Promise<TestStack> | undefined
  let closing: Promise<void> | undefined
  return {
    open: () => (opening ??= open()),
    // A stack that failed to open has already failed its tests, and needs no closing.
    close: () =>
      (closing ??= opening?.then(
        (stack) => stack.close(),
        () => undefined,
      )),
  }
}

/** Declares a test, as `test` does. */
export type Declare = (name: string, act: () => Promise<unknown>, timeoutMs?: number) => void

/**
 * As {@link describeBothStacks}, for tests that mostly wait: each test runs on all its stacks at the same time.
 * Everything else it uses, such as a LINE server, must belong to its `stack.kind` alone.
 * @param tests is called once for each test stack, and declares the same tests with the given function
 */
export function describeBothStacksAtOnce(
  name: string,
  tests: (stack: TestStack, declare: Declare) => void,
  settingsOf: (kind: TestStack['kind']) => Environment = () => ({}),
): void {
  describe(name, () => {
    const opened = new Map<TestStack['kind'], TestStack>()
    beforeAll(
      () =>
        allOf(STACK_KINDS, async (kind) => {
          const settings = settingsOf(kind)
          const open =
            kind === 'real' ? openRealTestStack({ settings, apart: [] }) : openEmbeddedTestStack(settings)
          opened.set(kind, await open)
        }),
      2 * STACK_TIMEOUT_MS,
    )
    afterAll(() => allOf(STACK_KINDS, async (kind) => opened.get(kind)?.close()))
    const declared = new Map<
      string,
      { timeoutMs?: number; acts: Map<TestStack['kind'], () => Promise<unknown>> }
    >()
    for (const kind of STACK_KINDS)
      tests(
        lazily(kind, () => opened.get(kind)),
        (title, act, timeoutMs) => {
          const one = declared.get(title) ?? {
            ...(timeoutMs === undefined ? {} : { timeoutMs }),
            acts: new Map(),
          }
          declared.set(title, one)
          one.acts.set(kind, act)
        },
      )
    for (const [title, { acts, timeoutMs }] of declared)
      test(title, () => allOf(STACK_KINDS, (kind) => acts.get(kind)!()), timeoutMs)
  })
}

/** Runs it on each test stack at the same time. @throws after all have ended, with the names of those that failed */
async function allOf(
  kinds: readonly TestStack['kind'][],
  act: (kind: TestStack['kind']) => Promise<unknown>,
): Promise<void> {
  const ends = await Promise.allSettled(kinds.map(act))
  const failures = ends.flatMap((end, i) =>
    end.status === 'rejected' ? [[kinds[i]!, end.reason as unknown]] : [],
  )
  if (failures.length === 0) return
  const message = failures.map(([kind, reason]) => `${String(kind)}: ${Bun.inspect(reason)}`).join('\n')
  const [, cause] = failures[0]!
  throw new (cause instanceof TimeoutError ? TimeoutError : Error)(message, { cause })
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
    isFirst: kind === STACK_KINDS[0],
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

/** A child process that exceeds a limit fails its order, and the next order succeeds. */
import { afterEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type Child, ChildFailed, type ChildOptions, openChild } from '#shared/runtime/child-process.ts'
import { Refusal } from '#shared/runtime/refusal.ts'
import { until } from '#tests/helpers/wait.ts'
import type { Appetite } from './memory-hungry.ts'

const opened: Child<Appetite, number>[] = []
const open = (options: Partial<ChildOptions> = {}): Child<Appetite, number> => {
  const child = openChild<Appetite, number>({
    program: join(import.meta.dir, 'memory-hungry.ts'),
    waiting: 4,
    recycleAfter: 1,
    recycleBytes: 1_000_000_000,
    timeoutMs: 60_000,
    idleMs: 60_000,
    limits: { cpuSeconds: 1, memoryBytes: 300_000_000 },
    ...options,
  })
  opened.push(child)
  return child
}
afterEach(async () => {
  for (const child of opened.splice(0)) await child.close()
})
const reasonOf = (run: Promise<unknown>): Promise<unknown> =>
  run.then(() => null).catch((error: unknown) => error)

test('more processor time than it is granted is not given, however patient its parent is', async () => {
  const child = open()
  expect(await child.run({ cpuMs: 200 })).toBe(0)
  expect(await reasonOf(child.run({ cpuMs: 30_000 }))).toMatchObject({ name: 'ChildFailed', isLate: false })
  expect(await child.run({ cpuMs: 200 })).toBe(0)
})

test('more memory than it is granted is not given', async () => {
  const child = open()
  expect(await child.run({ bytes: 50_000_000 })).toBe(50)
  expect(await reasonOf(child.run({ bytes: 600_000_000 }))).toBeInstanceOf(ChildFailed)
  expect(await child.run({ bytes: 50_000_000 })).toBe(50)
})

test('more time than it is granted is not given', async () => {
  const child = open({ timeoutMs: 2_000 })
  expect(await reasonOf(child.run({ waitMs: 60_000 }))).toMatchObject({ name: 'ChildFailed', isLate: true })
  expect(await child.run({})).toBe(0)
})

test('its end is no verdict on the order: who waits is told to come back, and nothing starts again', async () => {
  const child = open()
  const running = reasonOf(child.run({ waitMs: 30_000 }))
  const waiting = reasonOf(child.run({}))
  await until(() => child.pid !== null, 'the child to start')
  await child.close()
  for (const reason of [await running, await waiting, await reasonOf(child.run({}))]) {
    expect(reason).toBeInstanceOf(Refusal)
    expect(reason).toMatchObject({ httpStatus: 503 })
  }
  expect(child.pid).toBeNull()
})

test('an order and who waits for it are answered in time', async () => {
  const child = open({ answerMs: 4_500 })
  const running = reasonOf(child.run({ waitMs: 60_000 }))
  const waiting = reasonOf(child.run({}))
  expect(await waiting).toMatchObject({ httpStatus: 503 })
  expect(await running).toMatchObject({ name: 'ChildFailed', isLate: true })
  expect(await child.run({})).toBe(0)
})

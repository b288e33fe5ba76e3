/** The renderer: a failure affects only its own picture. */
import { afterEach, expect, test } from 'bun:test'
import { box, type Element } from '#shared/runtime/picture-renderer/element.ts'
import {
  openRenderer,
  RenderFailed,
  type Renderer,
  type RendererOptions,
} from '#shared/runtime/picture-renderer/renderer.ts'
import { Refusal } from '#shared/runtime/refusal.ts'
import { until } from '#tests/helpers/wait.ts'

const SIZE = { width: 120, height: 60 }
const picture = (text = '香客'): Element => box({ width: 120, height: 60, fontSize: 40 }, text)
/** An element that the layout engine rejects. */
const impossible: Element = { type: 'div', props: { style: { display: 'table' }, children: ['x', 'y'] } }

const opened: Renderer[] = []
const open = (options: RendererOptions = {}): Renderer => {
  const renderer = openRenderer(options)
  opened.push(renderer)
  return renderer
}
afterEach(async () => {
  for (const renderer of opened.splice(0)) await renderer.close()
})

const isPng = (bytes: Uint8Array): boolean => bytes[0] === 0x89 && bytes[1] === 0x50
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('no process runs before the first picture or after the renderer is closed', async () => {
  const renderer = open()
  expect(renderer.childPid).toBeNull()
  expect(isPng(await renderer.renderPng(picture(), SIZE))).toBe(true)
  const pid = renderer.childPid!
  expect(isAlive(pid)).toBe(true)
  await renderer.close()
  expect([renderer.childPid, isAlive(pid)]).toEqual([null, false])
})

test('equal trees give equal bytes', async () => {
  const renderer = open()
  const first = await renderer.renderPng(picture(), SIZE)
  expect(await renderer.renderPng(picture(), SIZE)).toEqual(first)
  expect(await renderer.renderPng(picture('金丹'), SIZE)).not.toEqual(first)
})

test('a picture that cannot be laid out fails alone, in the same child', async () => {
  const renderer = open()
  await renderer.renderPng(picture(), SIZE)
  const pid = renderer.childPid
  const outcomes = await Promise.allSettled([
    renderer.renderPng(impossible, SIZE),
    renderer.renderPng(picture(), SIZE),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  expect((outcomes[0] as PromiseRejectedResult).reason).toBeInstanceOf(RenderFailed)
  expect(renderer.childPid).toBe(pid)
})

test('killing a child fails its current picture; another child draws the next one', async () => {
  const renderer = open()
  await renderer.renderPng(picture(), SIZE)
  const pid = renderer.childPid!
  const drawing = renderer.renderPng(picture('x'.repeat(2_000)), { width: 3_000, height: 3_000 })
  const next = renderer.renderPng(picture(), SIZE)
  process.kill(pid, 'SIGKILL')
  expect(await drawing.catch((error: unknown) => error)).toBeInstanceOf(RenderFailed)
  expect(isPng(await next)).toBe(true)
  expect(renderer.childPid).not.toBe(pid)
})

test('killing an idle child fails no picture', async () => {
  const renderer = open()
  await renderer.renderPng(picture(), SIZE)
  const pid = renderer.childPid!
  process.kill(pid, 'SIGKILL')
  await until(() => !isAlive(pid), 'the child to end')
  expect(isPng(await renderer.renderPng(picture(), SIZE))).toBe(true)
})

test('a child that hangs is killed after the timeout (long)', async () => {
  // A new child starts and draws within it, also on a busy machine.
  const renderer = open({ timeoutMs: 6_000 })
  await renderer.renderPng(picture(), SIZE)
  process.kill(renderer.childPid!, 'SIGSTOP')
  expect(await renderer.renderPng(picture(), SIZE).catch((error: unknown) => error)).toBeInstanceOf(
    RenderFailed,
  )
  expect(isPng(await renderer.renderPng(picture(), SIZE))).toBe(true)
})

test('a full queue answers 503 with Retry-After, and waiting pictures are drawn', async () => {
  const renderer = open({ waiting: 2 })
  const outcomes = await Promise.allSettled(
    Array.from({ length: 5 }, () => renderer.renderPng(picture(), SIZE)),
  )
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
  for (const outcome of outcomes.slice(3)) {
    const { reason } = outcome as PromiseRejectedResult
    expect(reason).toBeInstanceOf(Refusal)
    expect(reason).toMatchObject({
      httpStatus: 503,
      headers: { 'Retry-After': expect.stringMatching(/^[1-9]/) },
    })
  }
})

test('a child is replaced after so many pictures, and when it has grown (long)', async () => {
  for (const options of [{ recycleAfter: 2 }, { recycleBytes: 1 }]) {
    const renderer = open(options)
    const pids = new Set<number | null>()
    for (let i = 0; i < 4; i++) {
      const drawing = renderer.renderPng(picture(), SIZE)
      await until(() => renderer.childPid !== null, 'a child to start')
      pids.add(renderer.childPid)
      expect(isPng(await drawing)).toBe(true)
    }
    expect(pids.size).toBe('recycleAfter' in options ? 2 : 4)
  }
})

test('a child without work ends', async () => {
  const renderer = open({ idleMs: 50 })
  await renderer.renderPng(picture(), SIZE)
  await until(() => renderer.childPid === null, 'the idle child to end')
  expect(isPng(await renderer.renderPng(picture(), SIZE))).toBe(true)
})

test('the child does not get the environment', async () => {
  const renderer = open()
  await renderer.renderPng(picture(), SIZE)
  const environ = await Bun.file(`/proc/${renderer.childPid}/environ`).text()
  expect(environ).not.toContain('PATH=')
})

test('a tree that cannot be sent to the child fails alone', async () => {
  const renderer = openRenderer()
  try {
    const element = { type: 'div', props: { children: Object } } as unknown as Parameters<
      typeof renderer.renderPng
    >[0]
    expect(
      await renderer.renderPng(element, { width: 10, height: 10 }).catch((error: unknown) => error),
    ).toBeInstanceOf(RenderFailed)
  } finally {
    await renderer.close()
  }
})

/** A stuck renderer: a stored card is served immediately, and the new one is drawn in the background. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Embedded, startMigratedEmbedded } from '#tests/helpers/embedded.ts'
import { checkIn, newPilgrimId, SETTINGS } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { json } from './requests.ts'

let run: Embedded
let stopped: number | null = null
beforeAll(async () => {
  run = await startMigratedEmbedded(SETTINGS)
})
afterAll(async () => {
  if (stopped !== null) process.kill(stopped, 'SIGCONT')
  await run?.stop()
  run?.remove()
})

const walker = async (): Promise<string> => {
  const userId = newPilgrimId()
  await checkIn({ fetch: (path, init) => run.fetch(path, init) }, userId)
  return userId
}
const card = async (userId: string) => {
  const { status, headers } = await run.fetch(`/api/event/og/${userId}.png`)
  return { status, etag: headers.get('etag'), cacheControl: headers.get('cache-control') }
}
const rename = (userId: string, name: string) =>
  run.fetch('/api/event/user/sync', json({ user_id: userId, display_name: name }))

/** The stored cards with their times. */
const written = (): string => {
  const folder = join(run.dataDir, 'objects/cards')
  return readdirSync(folder)
    .map((file) => `${file} ${statSync(join(folder, file)).mtimeMs}`)
    .join()
}

/** Finds the renderer's process, a child of the test. */
function rendererOf({ pid }: Embedded): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
  const found = children.find((child) =>
    readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('render-child'),
  )
  if (found === undefined) throw new Error('no renderer runs')
  return found
}

test('the stored card is served with a short cache time, and then the new one', async () => {
  const userId = await walker()
  const first = await card(userId)
  expect(first).toMatchObject({ status: 200, cacheControl: 'public, max-age=60' })
  const before = written()
  stopped = rendererOf(run)
  process.kill(stopped, 'SIGSTOP')
  await rename(userId, '林美玉')
  const began = performance.now()
  expect(await card(userId)).toEqual({ ...first, cacheControl: 'public, max-age=5' })
  expect(performance.now() - began).toBeLessThan(8_000)
  process.kill(stopped, 'SIGCONT')
  stopped = null
  // Drawn in the background, without another request.
  await until(() => written() !== before, 'the new card to be stored', { timeoutMs: 40_000 })
  const second = await card(userId)
  expect(second).toMatchObject({ status: 200, cacheControl: 'public, max-age=60' })
  expect(second.etag).not.toBe(first.etag)
}, 90_000)

test('cards are drawn after the renderer has died', async () => {
  const userId = await walker()
  const first = await card(userId)
  stopped = rendererOf(run)
  process.kill(stopped, 'SIGSTOP')
  await rename(userId, '林美玉')
  expect(await card(userId)).toEqual({ ...first, cacheControl: 'public, max-age=5' })
  process.kill(stopped, 'SIGKILL')
  stopped = null
  await until(async () => (await card(userId)).cacheControl === 'public, max-age=60', 'the new card', {
    timeoutMs: 40_000,
    everyMs: 200,
  })
  expect((await card(userId)).etag).not.toBe(first.etag)
}, 90_000)

test('all pilgrims without a point share one stored picture', async () => {
  const before = readdirSync(join(run.dataDir, 'objects/cards')).length
  const invented = Array.from({ length: 30 }, newPilgrimId)
  await Promise.all(invented.map((userId) => rename(userId, userId)))
  const tags = await Promise.all(invented.map(async (userId) => (await card(userId)).etag))
  expect(new Set(tags).size).toBe(1)
  const newcomers = readdirSync(join(run.dataDir, 'objects/cards'))
  expect(newcomers.length).toBe(before + 1)
}, 90_000)

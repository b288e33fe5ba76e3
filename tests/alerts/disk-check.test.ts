/** The alert watch continues whatever the disk does. */
import { expect, test } from 'bun:test'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { createDiskCheck as create, freeBytesOf } from '#shared/service/alerts/health-checks.ts'

const GIB = 1_024 ** 3
const metrics = createMetrics('scheduler')
const createDiskCheck = (freeBytes: () => Promise<number>) => create(freeBytes, metrics)
const freeBytesFigure = async () => /^event_disk_free_bytes\{.*\} (.+)$/m.exec(await metrics.page())?.[1]

test('a disk with room is no cause, a full one is a warning, and one that fails is a failure', async () => {
  expect(await createDiskCheck(async () => GIB)()).toBeNull()
  const full = await createDiskCheck(async () => 12 * 1_024 * 1_024)()
  expect(full).toMatchObject({ key: 'disk', failure: false, text: expect.stringContaining('12 MB') })
  expect(await freeBytesFigure()).toBe(String(12 * 1_024 * 1_024))
  const broken = createDiskCheck(() => Promise.reject(new Error('EIO')))
  expect(await broken()).toMatchObject({ key: 'disk', failure: true })
  expect(await freeBytesFigure()).toBe('Nan')
  expect(await freeBytesOf('.')).toBeGreaterThan(0)
})

test('a scrape asks the disk itself, also where nothing has checked it yet', async () => {
  let free = GIB
  createDiskCheck(async () => free)
  expect(await freeBytesFigure()).toBe(String(GIB))
  free = 1
  expect(await freeBytesFigure()).toBe('1')
})

test('a disk that hangs is told in time, is not asked once more meanwhile, and recovers', async () => {
  const hung = Promise.withResolvers<number>()
  let calls = 0
  const check = createDiskCheck(() => {
    calls++
    return hung.promise
  })
  const startedMs = performance.now()
  const [figure, ...causes] = await Promise.all([freeBytesFigure(), check(), check()])
  expect(performance.now() - startedMs).toBeLessThan(4_500)
  expect(figure).toBe('Nan')
  for (const cause of causes)
    expect(cause).toMatchObject({
      key: 'disk',
      failure: true,
      text: expect.stringContaining('does not answer'),
    })
  expect(calls).toBe(1)
  hung.resolve(GIB)
  expect(await check()).toBeNull()
})

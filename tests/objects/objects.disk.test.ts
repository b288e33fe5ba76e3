/** Tests of the disk driver only: its files, and what it leaves when it is killed. */
import { afterAll, expect, test } from 'bun:test'
import { chmod, mkdir, readdir, rm, truncate, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import {
  openDiskObjects,
  pathOfKey,
  segmentOfDirectory,
  segmentOfFile,
} from '#shared/stores/objects/objects.disk.ts'
import { type Objects, ObjectsUnavailable, isObjectKey } from '#shared/stores/objects/objects.ts'
import { newDirectory } from '#tests/helpers/process.ts'

const PNG = { contentType: 'image/png' }
const scratch = await newDirectory('objects-disk')
afterAll(() => rm(scratch, { recursive: true, force: true }))

const fresh = (): string => join(scratch, crypto.randomUUID())

/** Expects an object as `write-objects-until-killed.ts` puts it, and returns its number. */
async function wholeNumber(objects: Objects): Promise<number> {
  const { bytes } = (await objects.get('cards/one.png'))!
  const words = new Uint32Array(bytes.slice().buffer)
  expect(words.length).toBe(262_144)
  expect(words.every((word) => word === words[0])).toBe(true)
  return words[0]!
}

test('a put killed at any moment leaves the old object or the new one, and loses no completed put', async () => {
  const directory = fresh()
  const script = join(import.meta.dir, '../helpers/write-objects-until-killed.ts')
  let leftovers = 0
  // Repeats until a kill has interrupted a write, which leaves a temporary file: on fast machines that is
  // rare.
  for (let round = 0; round < 12 || (leftovers === 0 && round < 100); round++) {
    const child = Bun.spawn([process.execPath, script, directory], { stdio: ['ignore', 'pipe', 'inherit'] })
    let acknowledged = ''
    for await (const chunk of child.stdout) {
      acknowledged += new TextDecoder().decode(chunk)
      // Once it is writing: at once, or up to 11 ms into a later put.
      if (child.killed) continue
      await Bun.sleep(round % 12)
      child.kill('SIGKILL')
    }
    await child.exited
    const resolved = Number(acknowledged.trim().split('\n').at(-1))
    const found = await wholeNumber(await openDiskObjects(directory))
    expect(found === resolved || found === resolved + 1).toBe(true)
    leftovers = (await readdir(join(directory, 'cards'))).length - 1
  }
  expect(leftovers).toBeGreaterThan(0)
})

test('readers see complete objects only while one is overwritten again and again', async () => {
  const objects = await openDiskObjects(fresh())
  const put = (n: number) =>
    objects.put('cards/one.png', new Uint8Array(new Uint32Array(262_144).fill(n).buffer), PNG)
  await put(0)
  let written = 0
  const seen = new Set<number>()
  await Promise.all([
    (async () => {
      while (written < 40) await put(++written)
    })(),
    (async () => {
      while (written < 40) seen.add(await wholeNumber(objects))
    })(),
  ])
  expect(seen.size).toBeGreaterThan(1)
})

test('opening removes files of killed puts, and keeps those of running processes', async () => {
  const directory = fresh()
  const objects = await openDiskObjects(directory)
  await objects.put('cards/a/kept.png', new Uint8Array(10), PNG)
  const [old, young] = [crypto.randomUUID(), crypto.randomUUID()].map((id) =>
    join(directory, 'cards/a', `${id}.tmp`),
  )
  for (const path of [old!, young!]) await Bun.write(path, 'half')
  const anHourAgo = new Date(Date.now() - 3_600_000)
  await utimes(old!, anHourAgo, anHourAgo)
  await openDiskObjects(directory)
  expect((await readdir(join(directory, 'cards/a'))).sort()).toEqual(
    ['0~kept.png', young!.split('/').at(-1)!].sort(),
  )
  expect(await Array.fromAsync(objects.list(''))).toEqual(['cards/a/kept.png'])
})

test('the probe fails while nothing can be written, and then recovers', async () => {
  const directory = fresh()
  const objects = await openDiskObjects(directory)
  await objects.put('cards/one.png', new Uint8Array(10), PNG)
  await chmod(directory, 0o555)
  const root = process.geteuid!() === 0
  // Root ignores file modes.
  if (root) process.seteuid!(65_534)
  try {
    const outcome = await objects.probe().catch((error: unknown) => error)
    expect(outcome).toBeInstanceOf(ObjectsUnavailable)
  } finally {
    if (root) process.seteuid!(0)
    await chmod(directory, 0o700)
  }
  await objects.probe()
})

test('a truncated file is reported as unavailable, and never read as an object', async () => {
  const directory = fresh()
  const objects = await openDiskObjects(directory)
  await objects.put('cards/one.png', new Uint8Array(1_000), PNG)
  for (const size of [1_255, 744, 100, 0]) {
    await truncate(join(directory, pathOfKey('cards/one.png')), size)
    for (const look of ['get', 'head'] as const) {
      const outcome = await objects[look]('cards/one.png').catch((error: unknown) => error)
      expect(outcome).toBeInstanceOf(ObjectsUnavailable)
    }
  }
  await objects.put('cards/one.png', new Uint8Array(1_000), PNG)
  expect(await objects.head('cards/one.png')).toMatchObject({ size: 1_000 })
})

test('files of others in the directory are not listed', async () => {
  const directory = fresh()
  const objects = await openDiskObjects(directory)
  await mkdir(join(directory, 'lost+found'))
  for (const name of ['README', '.DS_Store', 'lost+found/0~x', '0~', 'g~x', '1~-', '00~x', '0~X']) {
    await Bun.write(join(directory, name), 'x')
  }
  expect(await Array.fromAsync(objects.list(''))).toEqual([])
})

const segment = fc.stringMatching(/^[A-Za-z0-9_.:@-]{1,160}$/).filter(isObjectKey)

test('file names are one to one with keys, and fit every file system', () => {
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 3 }), (segments) => {
      const names = pathOfKey(segments.join('/')).split('/')
      const leaf = segmentOfFile(names.at(-1)!)
      expect([...names.slice(0, -1).map(segmentOfDirectory), leaf]).toEqual(segments)
      for (const name of names) {
        expect(name).toBe(name.toLowerCase())
        expect(name).not.toContain(':')
        expect(name.length).toBeLessThanOrEqual(255)
      }
    }),
  )
})

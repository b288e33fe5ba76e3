/** One suite over both drivers of the objects port, and what only a network can do to one of them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  InvalidObjectKey,
  type Objects,
  ObjectsUnavailable,
  type S3Settings,
} from '#shared/stores/objects/objects.ts'
import { openObjects } from '#shared/stores/objects/open-objects.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { startS3Server } from '#tests/helpers/s3-server.ts'
import { embeddedOnly } from '#tests/helpers/suite.ts'

const PNG = { contentType: 'image/png' }
const NO_S3: S3Settings = { endpoint: '', region: 'us-east-1', accessKeyId: '', secretAccessKey: '' }

const scratch = await newDirectory('objects')
const s3 = embeddedOnly
  ? null
  : await startS3Server('that shared/stores/objects/objects.s3.ts keeps objects in S3')

afterAll(async () => {
  await s3?.server.close()
  await rm(scratch, { recursive: true, force: true })
})

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)
const listed = async (objects: Objects, prefix: string): Promise<string[]> =>
  (await Array.fromAsync(objects.list(prefix))).sort()

const BAD_KEYS = [
  ...'|/|/etc/passwd|a/|a//b|.|..|../a|a/../b|a/..|a/./b|a\\b|a b|a\0|a\n|a%2e%2e/b|~probe|ä|a?b|a#b'.split(
    '|',
  ),
  'Z'.repeat(161),
  `${'a/'.repeat(256)}a`,
]

async function expectRejection(call: Promise<unknown>, type: new (message: string) => Error): Promise<void> {
  const outcome = await call.catch((error: unknown) => error)
  expect(outcome).toBeInstanceOf(type)
}

/** Milliseconds until a call is refused as unavailable. */
async function refusedAfterMs(call: Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await expectRejection(call, ObjectsUnavailable)
  return performance.now() - startedAt
}

interface Driver {
  readonly name: string
  /** An empty store. */
  readonly open: () => Promise<Objects>
  readonly breakDown: () => Promise<void>
  readonly repair: () => Promise<void>
}

const directory = join(scratch, 'store')
const disk: Driver = {
  name: 'on disk',
  open: () => openObjects(`file:${directory}`, NO_S3),
  breakDown: () => rename(directory, `${directory}-gone`),
  repair: () => rename(`${directory}-gone`, directory),
}
const bucket: Driver = {
  name: 'on S3',
  open: () => openObjects(`s3://${s3!.bucket}/${crypto.randomUUID()}`, s3!.settings),
  breakDown: () => s3!.server.stop('SIGKILL'),
  repair: () => s3!.server.restart(),
}

for (const { name, open, breakDown, repair } of s3 === null ? [disk] : [disk, bucket]) {
  describe(`objects ${name}`, () => {
    let objects: Objects
    beforeAll(async () => {
      objects = await open()
    })
    afterAll(() => objects.close())

    test.each([0, 1, 255, 256, 257, 6_000_000])('gives %d bytes back as they came', async (size) => {
      const bytes = new Uint8Array(size).map((_, i) => i * 7)
      const { etag } = await objects.put('cards/U1.png', bytes, PNG)
      const { modifiedAt, ...info } = (await objects.head('cards/U1.png'))!
      expect(info).toEqual({ contentType: 'image/png', etag, size })
      expect(Math.abs(Date.now() - modifiedAt.getTime())).toBeLessThan(60_000)
      const found = (await objects.get('cards/U1.png'))!
      expect(found).toEqual({ ...info, modifiedAt, bytes: found.bytes })
      expect(Buffer.compare(found.bytes, bytes)).toBe(0)
    })

    test('overwrites, and the ETag belongs to the bytes', async () => {
      const first = await objects.put('cards/U2.png', bytesOf('first'), PNG)
      const contentType = `text/plain; charset=${'x'.repeat(80)}`
      const second = await objects.put('cards/U2.png', bytesOf('second'), { contentType })
      expect(await objects.get('cards/U2.png')).toMatchObject({
        bytes: bytesOf('second'),
        contentType,
        etag: second.etag,
      })
      expect(second.etag).not.toBe(first.etag)
      expect(first.etag).toMatch(/^[\w-]+$/)
      expect(await objects.put('cards/U2.png', bytesOf('first'), PNG)).toEqual(first)
    })

    test('a missing object is null, and may be deleted twice', async () => {
      await objects.put('cards/U3.png', bytesOf('here'), PNG)
      for (let time = 0; time < 2; time++) await objects.delete('cards/U3.png')
      expect(await objects.get('cards/U3.png')).toBeNull()
      expect(await objects.head('cards/U3.png')).toBeNull()
      expect(await objects.get('nowhere/at/all')).toBeNull()
      await objects.delete('nowhere/at/all')
      expect(await listed(objects, 'cards/U3')).toEqual([])
    })

    test('lists every key with a prefix, beyond one page of S3', async () => {
      const keys = Array.from({ length: 1_100 }, (_, i) => `many/${i}.png`)
      for (let i = 0; i < keys.length; i += 20) {
        await Promise.all(keys.slice(i, i + 20).map((key) => objects.put(key, bytesOf(key), PNG)))
      }
      await objects.put('many-more/1.png', bytesOf('x'), PNG)
      await objects.put('many/deep/er/1.png', bytesOf('x'), PNG)
      expect(await listed(objects, 'many/')).toEqual([...keys, 'many/deep/er/1.png'].sort())
      expect(await listed(objects, 'many')).toHaveLength(1_102)
      expect(await listed(objects, 'many/109')).toEqual(
        keys.filter((key) => key.startsWith('many/109')).sort(),
      )
      expect(await listed(objects, 'many/nothing')).toEqual([])
      expect(await listed(objects, '')).toEqual(expect.arrayContaining(['many/0.png', 'many-more/1.png']))
    })

    test('keeps the keys of all pilgrims distinct, whatever their ids', async () => {
      const ids = ['Uab', 'uab', 'UAB', 'u:b', 'u@b', 'u.b', '...', '.u', 'u.', '-', '_', 'CON', '0']
      const keys = [
        ...ids.map((id) => `ids/${id}.png`),
        'ids/u',
        'ids/u/b',
        'ids/U/b',
        `ids/${'Z'.repeat(160)}`,
      ]
      for (const key of keys) await objects.put(key, bytesOf(key), PNG)
      for (const key of keys) expect((await objects.get(key))!.bytes).toEqual(bytesOf(key))
      expect(await listed(objects, 'ids/')).toEqual(keys.sort())
      expect(await listed(objects, 'ids/u')).toEqual(keys.filter((key) => key.startsWith('ids/u')))
    })

    test('refuses an invalid key, prefix or media type', async () => {
      for (const key of BAD_KEYS) {
        await expectRejection(objects.put(key, bytesOf('x'), PNG), InvalidObjectKey)
        await expectRejection(objects.get(key), InvalidObjectKey)
        await expectRejection(objects.head(key), InvalidObjectKey)
        await expectRejection(objects.delete(key), InvalidObjectKey)
      }
      for (const prefix of ['/', '../', 'a/../', 'a//', 'a/./', 'a b', '\0']) {
        await expectRejection(listed(objects, prefix), InvalidObjectKey)
      }
      for (const contentType of ['', 'png', 'image/png\r\nx: y', `image/${'x'.repeat(100)}`]) {
        await expectRejection(objects.put('cards/U4.png', bytesOf('x'), { contentType }), TypeError)
      }
      expect(await listed(objects, 'cards/U4')).toEqual([])
    })

    test('one of several concurrent puts is stored completely', async () => {
      const versions = Array.from({ length: 16 }, (_, i) => new Uint8Array(100_000 + i).fill(i))
      const written = await Promise.all(versions.map((bytes) => objects.put('cards/U5.png', bytes, PNG)))
      const last = (await objects.get('cards/U5.png'))!
      const winner = last.bytes[0]!
      expect(Buffer.compare(last.bytes, versions[winner]!)).toBe(0)
      expect(last.etag).toBe(written[winner]!.etag)
    })

    test('is unavailable, not empty, while it is broken, and recovers by itself', async () => {
      await objects.put('cards/U6.png', bytesOf('kept'), PNG)
      await objects.probe()
      await breakDown()
      expect(await refusedAfterMs(objects.probe())).toBeLessThan(10_000)
      await refusedAfterMs(objects.get('cards/U6.png'))
      await refusedAfterMs(objects.head('cards/U6.png'))
      await refusedAfterMs(objects.put('cards/U6.png', bytesOf('lost'), PNG))
      await refusedAfterMs(objects.delete('cards/U6.png'))
      await refusedAfterMs(listed(objects, 'cards/'))
      await repair()
      await objects.probe()
      expect((await objects.get('cards/U6.png'))!.bytes).toEqual(bytesOf('kept'))
    }, 60_000)

    test('the probe leaves no object behind', async () => {
      const before = await listed(objects, '')
      for (let i = 0; i < 3; i++) await objects.probe()
      expect(await listed(objects, '')).toEqual(before)
    })
  })
}

test('S3 needs credentials', () => expectRejection(openObjects('s3://bucket', NO_S3), TypeError))

describe.skipIf(s3 === null)('a troubled S3', () => {
  test('a hanging server times out, and is used again when it answers', async () => {
    const objects = await openObjects(`s3://${s3!.bucket}`, { ...s3!.settings, timeoutMs: 700 })
    await objects.probe()
    s3!.server.pause()
    try {
      expect(await refusedAfterMs(objects.probe())).toBeLessThan(10_000)
      expect(await refusedAfterMs(objects.get('cards/U1.png'))).toBeLessThan(10_000)
      expect(await refusedAfterMs(objects.put('cards/U1.png', bytesOf('x'), PNG))).toBeLessThan(10_000)
      expect(await refusedAfterMs(listed(objects, ''))).toBeLessThan(10_000)
    } finally {
      s3!.server.resume()
    }
    await objects.probe()
  })

  test.each([
    ['without the bucket', 's3://missing', {}],
    ['with a wrong secret', 's3://objects', { secretAccessKey: 'wrong' }],
  ])('%s is unavailable; nothing is called missing', async (_, url, wrong) => {
    const objects = await openObjects(url, { ...s3!.settings, ...wrong })
    await refusedAfterMs(objects.probe())
    await refusedAfterMs(objects.get('cards/U1.png'))
    await refusedAfterMs(objects.head('cards/U1.png'))
    await refusedAfterMs(objects.put('cards/U1.png', bytesOf('x'), PNG))
    await refusedAfterMs(objects.delete('cards/U1.png'))
    await refusedAfterMs(listed(objects, ''))
  })
})

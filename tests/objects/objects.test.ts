/** One suite for both drivers of the objects port, plus faults that only a network can cause. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rename, rm, mkdir, mkdtemp } from 'node:fs/promises'
import { join, basename } from 'node:path'
import {
  InvalidObjectKey,
  type Objects,
  ObjectsUnavailable,
  type S3Settings,
} from '#shared/stores/objects/objects.ts'
import { openObjects } from '#shared/stores/objects/open-objects.ts'
import { newDirectory, runCommand, runToEnd, type Server, startServer } from '#tests/helpers/process.ts'
import { embeddedOnly } from '#tests/helpers/suite.ts'
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { freePort } from '../helpers/servers.ts'

/** Timeout for building the chroot, which downloads about 110 MB. */
const BUILD_S = 240
/** Timeout for creating a user. Ceph's tool takes a second, but sometimes hangs at its end. */
const USER_S = 20

/**
 * A real S3 server for the tests: Debian 13's Ceph object gateway, without a cluster, on SQLite, in a chroot.
 *
 * The chroot is built once, in the user's cache directory (`$XDG_CACHE_HOME` or `~/.cache`); each server has
 * its own port, data and bucket in it.
 */
interface S3Server {
  readonly server: Server
  readonly settings: S3Settings
  readonly bucket: string
}

/**
 * Starts a server with an empty bucket. If that is impossible, prints a warning and returns `null`.
 * @param unproven what the run does not test without it
 */
async function startS3Server(unproven: string): Promise<S3Server | null> {
  try {
    const root = await chroot()
    return await startGateway(root).catch(() => startGateway(root))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    console.warn(`\n!!! No real S3 server: ${reason}\n!!! NOT PROVEN by this run: ${unproven}\n`)
    return null
  }
}

/** The chroot's directory, built if it is missing. */
async function chroot(): Promise<string> {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  const directory = join(cache, 'pilgrimage-event-tracking', 's3-trixie')
  if (process.getuid?.() !== 0) throw new Error('it runs in a chroot, which needs root')
  if (existsSync(join(directory, 'usr/bin/radosgw'))) return directory
  if (!/^ID=debian$/m.test(readFileSync('/etc/os-release', 'utf8')))
    throw new Error('its chroot needs Debian')
  console.log(`Making the chroot of an S3 server in ${directory}, once (500 MB, at most ${BUILD_S} s)`)
  const script = join(import.meta.dir, '../helpers/s3-chroot.sh')
  // coreutils' timeout ends the whole process group, including apt's children.
  const build = ['timeout', '--kill-after=10', `${BUILD_S}`, 'nice', 'sh', script, directory]
  const { code, out, err } = await runCommand(build)
  const why = code === 124 || code === 137 ? `was not ready after ${BUILD_S} s` : 'could not be made'
  if (code !== 0)
    throw new Error(`its chroot ${why}:\n${`${out}\n${err}`.trim().split('\n').slice(-8).join('\n')}`)
  return directory
}

async function startGateway(root: string): Promise<S3Server> {
  const port = freePort()
  const url = `http://127.0.0.1:${port}`
  const settings = { endpoint: url, region: 'us-east-1', accessKeyId: 'tests', secretAccessKey: 'tests-only' }
  const bucket = 'objects'
  await mkdir(join(root, 'var/lib/rgw'), { recursive: true })
  const dir = await mkdtemp(join(root, 'var/lib/rgw', 'run-'))
  const inside = `/var/lib/rgw/${basename(dir)}`
  await Bun.write(join(dir, 'ceph.conf'), configuration(inside, port))
  const options = ['--conf', `${inside}/ceph.conf`, '--no-mon-config', '--name', 'client.rgw']
  const user = ['--uid=tests', '--display-name=tests', `--access-key=${settings.accessKeyId}`]
  const secret = `--secret-key=${settings.secretAccessKey}`
  const tool = ['timeout', '--kill-after=5', `${USER_S}`, 'chroot', root, 'radosgw-admin', ...options]
  await runToEnd([...tool, 'user', 'create', ...user, secret])
  const server = await startServer({
    name: 'radosgw',
    command: ['chroot', root, 'radosgw', '-d', ...options],
    dir,
    port,
    url,
    ready: () => makeBucket(settings, bucket),
  })
  return { server, settings, bucket }
}

/** A single process without a cluster. */
const configuration = (data: string, port: number): string => `
[global]
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
[client]
admin_socket =
rgw_backend_store = dbstore
rgw_config_store = dbstore
dbstore_db_dir = ${data}
dbstore_config_uri = file:${data}/config.db
rgw_data = ${data}
rgw_thread_pool_size = 16
rgw_frontends = beast endpoint=127.0.0.1:${port}
`

/** Bun's client cannot create a bucket. With the bucket as host name, the root is the bucket. */
async function makeBucket(settings: S3Settings, bucket: string): Promise<boolean> {
  const client = new Bun.S3Client({ ...settings, virtualHostedStyle: true })
  const answer = await fetch(client.presign(bucket, { method: 'PUT' }), { method: 'PUT' })
  return answer.ok
}

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

/** Milliseconds until a call fails as unavailable. */
async function refusedAfterMs(call: Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await expectRejection(call, ObjectsUnavailable)
  return performance.now() - startedAt
}

interface Driver {
  readonly name: string
  /** Opens an empty store. */
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
    afterAll(() => objects?.close())

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
    })

    test('the probe leaves no object behind', async () => {
      const before = await listed(objects, '')
      for (let i = 0; i < 3; i++) await objects.probe()
      expect(await listed(objects, '')).toEqual(before)
    })
  })
}

test('S3 needs credentials', () => expectRejection(openObjects('s3://bucket', NO_S3), TypeError))

describe.skipIf(s3 === null)('a troubled S3', () => {
  test('a hanging server times out, and is used again when it answers (long)', async () => {
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

/**
 * The driver that stores objects as files in a directory, which several processes may share.
 *
 * The metadata for `head` is in the file itself, because two files could disagree. It is a trailer of fixed length,
 * so that image viewers can still open the file.
 */
import { type FileHandle, open, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  filesBelow,
  nullIfMissing,
  makeDirectory,
  removeFile,
  sweep,
  writeFileWhole,
  writeTemporary,
} from './disk-files.ts'
import { pathOfDirectory, pathOfKey, segmentOfDirectory, segmentOfFile } from './disk-name.ts'
import type { ObjectInfo, Objects } from './objects.ts'
import { ObjectDamaged, withTimeout, ObjectsUnavailable } from './unavailable.ts'
import { LoggableError } from '#shared/runtime/loggable-error.ts'

const TRAILER_BYTES = 256
const PROBE_MS = 2_000

/**
 * Opens a directory as a store, creates it if necessary, and removes temporary files of killed processes.
 * @throws ObjectsUnavailable if the directory cannot be created or read
 */
export async function openDiskObjects(root: string): Promise<Objects> {
  await attempt('open', async () => {
    await makeDirectory(root)
    await sweep(filesBelow(root, segmentOfDirectory))
  })
  const fileOf = (key: string): string => join(root, pathOfKey(key))
  let probing: Promise<void> | null = null

  return {
    put: (key, bytes, { contentType }) =>
      attempt('put', async () => {
        const etag = new Bun.CryptoHasher('sha256').update(bytes).digest('hex').slice(0, 32)
        const trailer = writeTrailer({ contentType, etag, modifiedAt: new Date(), size: bytes.length })
        await writeFileWhole(root, fileOf(key), [bytes, trailer])
        return { etag }
      }),
    get: (key) => attempt('get', () => read(root, fileOf(key), wholeOf)),
    head: (key) => attempt('head', () => read(root, fileOf(key), infoOf)),
    delete: (key) => attempt('delete', () => removeFile(root, fileOf(key))),
    list: (prefix) => keysOf(root, prefix),
    probe() {
      // Each call to a disk that hangs occupies a thread, so concurrent probes share one call.
      probing ??= attempt('probe', () => roundTrip(root)).finally(() => (probing = null))
      return withTimeout(PROBE_MS, 'objects: probe', probing)
    },
    close: () => Promise.resolve(),
  }
}

const unavailable = (what: string, cause: unknown): ObjectsUnavailable =>
  cause instanceof ObjectsUnavailable
    ? cause
    : new ObjectsUnavailable(`objects: ${what} failed on disk`, { cause })

/** Runs disk operations and converts every error to `ObjectsUnavailable`. */
async function attempt<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw unavailable(what, error)
  }
}

/** Reads from a file; `null` if the file is missing but the store's directory exists. */
async function read<T>(
  root: string,
  path: string,
  take: (file: FileHandle) => Promise<T>,
): Promise<T | null> {
  const file = await nullIfMissing(open(path, 'r'))
  if (file === null) {
    await stat(root)
    return null
  }
  try {
    return await take(file)
  } finally {
    await file.close()
  }
}

async function wholeOf(file: FileHandle) {
  const whole = await file.readFile()
  const info = readTrailer(whole.subarray(-TRAILER_BYTES), whole.length)
  return { ...info, bytes: new Uint8Array(whole.buffer, whole.byteOffset, info.size) }
}

async function infoOf(file: FileHandle): Promise<ObjectInfo> {
  const { size } = await file.stat()
  const trailer = Buffer.alloc(TRAILER_BYTES)
  await file.read(trailer, 0, TRAILER_BYTES, Math.max(0, size - TRAILER_BYTES))
  return readTrailer(trailer, size)
}

const writeTrailer = (info: ObjectInfo): Uint8Array =>
  Buffer.from(`${JSON.stringify(info).padEnd(TRAILER_BYTES - 1)}\n`)

/** @throws ObjectDamaged */
function readTrailer(trailer: Buffer, fileBytes: number): ObjectInfo {
  try {
    const info = JSON.parse(trailer.toString()) as Omit<ObjectInfo, 'modifiedAt'> & { modifiedAt: string }
    if (info.size + TRAILER_BYTES !== fileBytes)
      throw new LoggableError(`${info.size} bytes and a trailer expected`)
    return { ...info, modifiedAt: new Date(info.modifiedAt) }
  } catch (cause) {
    throw new ObjectDamaged(`objects: a file of ${fileBytes} bytes is damaged`, { cause })
  }
}

/** Reads only the directories that can contain keys with this prefix. */
async function* keysOf(root: string, prefix: string): AsyncGenerator<string> {
  const parents = prefix.split('/').slice(0, -1)
  try {
    await stat(root)
    for await (const found of filesBelow(join(root, pathOfDirectory(parents)), segmentOfDirectory, parents)) {
      const segment = segmentOfFile(found.name)
      const key = segment === null ? null : [...found.segments, segment].join('/')
      if (key?.startsWith(prefix)) yield key
    }
  } catch (error) {
    throw unavailable('list', error)
  }
}

/** Probes the disk: writes, syncs, reads and removes a file. */
async function roundTrip(root: string): Promise<void> {
  const sent = crypto.getRandomValues(new Uint8Array(16))
  const path = await writeTemporary(root, [sent])
  try {
    if (!(await readFile(path)).equals(sent)) throw new LoggableError('the disk returned different bytes')
  } finally {
    await rm(path, { force: true })
  }
}

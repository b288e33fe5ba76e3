/**
 * The driver that stores objects as files in a directory, which several processes may share.
 *
 * The metadata for `head` is in the file itself, because two files could disagree. It is a trailer of fixed length,
 * so that image viewers can still open the file.
 */
import { type FileHandle, open, readFile, rm, stat, mkdir, readdir, rename, unlink } from 'node:fs/promises'
import { join, dirname } from 'node:path'
import {
  type ObjectInfo,
  type Objects,
  isObjectKey,
  ObjectDamaged,
  withTimeout,
  ObjectsUnavailable,
} from './objects.ts'
import { machineNow } from '#shared/runtime/clock.ts'
import { LoggableError } from '#shared/runtime/log.ts'

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

// Atomic file writes that survive a power cut.

/** Minimum age of abandoned temporary files: another process may still be writing a younger one. */
const ABANDONED_MS = 600_000
const TEMPORARY = /^[0-9a-f-]{36}\.tmp$/

/** Returns `null` if a file or directory does not exist. */
async function nullIfMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Creates a directory and its parents, and syncs the new entries. */
async function makeDirectory(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true, mode: 0o700 })
  if (first !== undefined) await syncUp(directory, dirname(first))
}

/**
 * Writes or replaces a file and creates the directories between it and `root`. Never creates `root` itself, because a
 * missing mount is not an empty store.
 */
async function writeFileWhole(root: string, path: string, parts: readonly Uint8Array[]): Promise<void> {
  const directory = dirname(path)
  await stat(root)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const temporary = await writeTemporary(directory, parts)
  await rename(temporary, path).catch((error: unknown) => discard(temporary, error))
  // Sync up to the root: another process may have created one of the directories and not synced it yet.
  await sync(directory)
  await syncUp(directory, root)
}

/** Removes a file if it exists. */
async function removeFile(root: string, path: string): Promise<void> {
  await stat(root)
  await nullIfMissing(unlink(path))
  // Sync even if the file was missing: an earlier removal may have failed before its sync.
  await nullIfMissing(sync(dirname(path)))
}

/** Writes and syncs a temporary file; removes it on failure. */
async function writeTemporary(directory: string, parts: readonly Uint8Array[]): Promise<string> {
  const path = join(directory, `${crypto.randomUUID()}.tmp`)
  const file = await open(path, 'wx', 0o600)
  try {
    for (const part of parts) await file.writeFile(part)
    await file.sync()
  } catch (error) {
    return await discard(path, error)
  } finally {
    await file.close()
  }
  return path
}

async function discard(temporary: string, reason: unknown): Promise<never> {
  await rm(temporary, { force: true })
  throw reason
}

/** Syncs a directory, which makes changes of its entries durable. */
async function sync(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function syncUp(directory: string, top: string): Promise<void> {
  for (let above = directory; above !== top && above !== dirname(above);) {
    above = dirname(above)
    await sync(above)
  }
}

interface FoundFile {
  readonly path: string
  readonly name: string
  /** Key segments of the directories between the starting point and the file. */
  readonly segments: readonly string[]
}

/**
 * Yields every file in a directory, recursively. Directories for which `segmentOf` returns `null`, such as
 * lost+found, are skipped.
 */
async function* filesBelow(
  directory: string,
  segmentOf: (directoryName: string) => string | null,
  segments: readonly string[] = [],
): AsyncGenerator<FoundFile> {
  const entries = await nullIfMissing(readdir(directory, { withFileTypes: true }))
  for (const entry of entries ?? []) {
    const path = join(directory, entry.name)
    if (entry.isFile()) yield { path, name: entry.name, segments }
    const segment = entry.isDirectory() ? segmentOf(entry.name) : null
    if (segment !== null) yield* filesBelow(path, segmentOf, [...segments, segment])
  }
}

/** Removes temporary files of killed processes. */
async function sweep(files: AsyncIterable<FoundFile>): Promise<void> {
  for await (const { path, name } of files) {
    if (!TEMPORARY.test(name)) continue
    const found = await nullIfMissing(stat(path))
    if (found !== null && machineNow() - found.mtimeMs > ABANDONED_MS) await rm(path, { force: true })
  }
}

// Maps keys one-to-one to file names, for file systems that ignore case (macOS, Windows shares) or do not allow colons.
//
// `cards/Uab:c.png` becomes `cards/1~uab=c.png`: a hexadecimal mask of the capitals, a mark, then the name in lower
// case. File names always have the mark `~`. Directory names have `^`, only if they contain capitals. So `a` and `a/b`
// can coexist. Keys contain neither mark.

/** A bit mask of the positions of capitals; the lowest bit is the first character. */
const capitalsOf = (segment: string): bigint => {
  let bits = 0n
  for (let i = 0; i < segment.length; i++) if (/[A-Z]/.test(segment[i]!)) bits |= 1n << BigInt(i)
  return bits
}

const encode = (segment: string, mark: '~' | '^'): string =>
  `${capitalsOf(segment).toString(16)}${mark}${segment.toLowerCase().replaceAll(':', '=')}`

function decode(name: string, mark: '~' | '^'): string | null {
  const at = name.indexOf(mark)
  if (!/^[0-9a-f]{1,40}$/.test(name.slice(0, Math.max(at, 0)))) return null
  const bits = BigInt(`0x${name.slice(0, at)}`)
  const lower = name.slice(at + 1).replaceAll('=', ':')
  const segment = Array.from(lower, (c, i) => ((bits >> BigInt(i)) & 1n ? c.toUpperCase() : c)).join('')
  return isObjectKey(segment) && encode(segment, mark) === name ? segment : null
}

const directoryName = (segment: string): string =>
  /[A-Z]/.test(segment) ? encode(segment, '^') : segment.replaceAll(':', '=')

/** Path of a key's file, relative to the store's directory. */
export function pathOfKey(key: string): string {
  const segments = key.split('/')
  return [...segments.slice(0, -1).map(directoryName), encode(segments.at(-1)!, '~')].join('/')
}

/** Last segment of a file's key; `null`: not the file of an object. */
export const segmentOfFile = (name: string): string | null => decode(name, '~')

/** Path of the directory of all keys that begin with these whole segments. */
const pathOfDirectory = (segments: readonly string[]): string => segments.map(directoryName).join('/')

/** Key segment of a directory; `null`: not a directory of this store. */
export function segmentOfDirectory(name: string): string | null {
  if (name.includes('^')) return decode(name, '^')
  const segment = name.replaceAll('=', ':')
  return isObjectKey(segment) && directoryName(segment) === name ? segment : null
}

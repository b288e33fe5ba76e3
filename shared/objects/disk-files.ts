/** Atomic file writes that survive a power cut. */
import { mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Minimum age of abandoned temporary files: another process may still be writing a younger one. */
const ABANDONED_MS = 600_000
const TEMPORARY = /^[0-9a-f-]{36}\.tmp$/

/** Returns `null` if a file or directory does not exist. */
export async function nullIfMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Creates a directory and its parents. */
export async function makeDirectory(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true, mode: 0o700 })
  if (first !== undefined) await syncUp(directory, dirname(first))
}

/**
 * Writes or replaces a file and creates the directories between it and `root`. Never creates `root` itself, because a
 * missing mount is not an empty store.
 */
export async function writeFileWhole(
  root: string,
  path: string,
  parts: readonly Uint8Array[],
): Promise<void> {
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
export async function removeFile(root: string, path: string): Promise<void> {
  await stat(root)
  await nullIfMissing(unlink(path))
  // Sync even if the file was missing: an earlier removal may have failed before its sync.
  await nullIfMissing(sync(dirname(path)))
}

/** Writes and syncs a temporary file; removes it on failure. */
export async function writeTemporary(directory: string, parts: readonly Uint8Array[]): Promise<string> {
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

/** Syncs a directory and its parents up to `top`. */
async function syncUp(directory: string, top: string): Promise<void> {
  for (let above = directory; above !== top && above !== dirname(above);) {
    above = dirname(above)
    await sync(above)
  }
}

export interface FoundFile {
  readonly path: string
  readonly name: string
  /** Key segments of the directories between the starting point and the file. */
  readonly segments: readonly string[]
}

/**
 * Yields every file in a directory, recursively. Directories for which `segmentOf` returns `null`, such as
 * lost+found, are skipped.
 */
export async function* filesBelow(
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
export async function sweep(files: AsyncIterable<FoundFile>): Promise<void> {
  for await (const { path, name } of files) {
    if (!TEMPORARY.test(name)) continue
    const found = await nullIfMissing(stat(path))
    if (found !== null && Date.now() - found.mtimeMs > ABANDONED_MS) await rm(path, { force: true })
  }
}

/**
 * The answers of `GET map` as files, which the proxy serves directly (proxy/map.caddy), so that viewers cost tracking
 * nothing. Several replicas may write into one folder at once.
 *
 * - `made-<version>/`: one version; it gets this name when it is complete. `map.json` is the whole map, and
 *   `map<since>.json` the changes since a version; each also compressed (`.br`, `.zst`, `.gz`).
 * - `at-<slot>`: a link to the version served in these ten seconds. A version gets the slots of its next 40 s and no
 *   more. So when all replicas have stopped, were killed or cannot write, the proxy soon finds no file, and no replica
 *   has to remove a link that another one needs.
 */
import { chmod, lstat, mkdir, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { machineNow } from '#shared/runtime/clock.ts'
import type { Prepared } from '#shared/service/http/prepared-response.ts'

/** Slots of a version: its own ten seconds, and three more. */
const SLOTS = 4
/** Older versions have no current slot, and no request reads them. */
const KEPT = SLOTS + 2
/** Younger entries are not removed: they may be served, or a process may be about to complete them. */
const OLD_MS = 60_000

const ENDINGS = { identity: '', br: '.br', zstd: '.zst', gzip: '.gz' } as const

export interface Edition {
  readonly version: number
  /** The crowd is an earlier one, as this replica knows it; another one may have a newer one. */
  readonly isStale: boolean
  /** It replaces the same version that shows the palanquin. */
  readonly hidesPalanquin: boolean
  /** Answers by the version that they start from; undefined: the whole. */
  readonly answers: Iterable<readonly [since: number | undefined, answer: Prepared]>
}

/**
 * Writes the files of a version, unless another replica has written them.
 * @param dir an existing folder
 * @throws Error of the file system
 */
export async function writeMapFiles(
  dir: string,
  { version, isStale, hidesPalanquin, answers }: Edition,
): Promise<void> {
  const name = `made-${version}${isStale ? '-stale' : ''}${hidesPalanquin ? '-hidden' : ''}`
  if (await exists(join(dir, name))) return
  const fresh = join(dir, `new-${crypto.randomUUID()}`)
  try {
    await mkdir(fresh)
    // A service's files are private by default, but the proxy runs as another user.
    await chmod(fresh, 0o755)
    for (const [since, answer] of answers) await writeAnswer(join(fresh, `map${since ?? ''}.json`), answer)
    if (!(await renameUnlessThere(fresh, join(dir, name)))) return
    for (let slot = version; slot < version + SLOTS; slot++)
      await link(dir, slot, name, isStale && !hidesPalanquin)
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
  await removeOver(dir, version - KEPT)
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? ''

/** Writes the compressed forms first: the original makes them visible. */
async function writeAnswer(file: string, answer: Prepared): Promise<void> {
  for (const [encoding, bytes] of await answer.forms()) {
    const path = `${file}${ENDINGS[encoding]}`
    await writeFile(path, bytes)
    await chmod(path, 0o644)
  }
}

/** @returns whether it was renamed; another replica may have been faster */
async function renameUnlessThere(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to)
    return true
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) return false
    throw error
  }
}

/** A stale version gets only slots without another version. */
async function link(dir: string, slot: number, name: string, isStale: boolean): Promise<void> {
  const path = join(dir, `at-${slot}`)
  if (!isStale) {
    const temporary = join(dir, `new-${crypto.randomUUID()}`)
    await symlink(name, temporary)
    await rename(temporary, path)
    return
  }
  try {
    await symlink(name, path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

/** Removes earlier versions and slots, and leftovers. */
async function removeOver(dir: string, before: number): Promise<void> {
  for (const entry of await readdir(dir)) {
    const path = join(dir, entry)
    const number = /^(?:made|at)-(\d+)/.exec(entry)?.[1]
    // By age as well: a replica whose clock is ahead must not remove files that others serve now.
    const isOver =
      (number === undefined ? entry.startsWith('new-') : Number(number) < before) && (await isOld(path))
    if (isOver) await rm(path, { recursive: true, force: true })
  }
}

async function isOld(path: string): Promise<boolean> {
  try {
    // `lstat`: the age of the link, not of its target.
    return (await lstat(path)).mtimeMs < machineNow() - OLD_MS
  } catch (error) {
    // Another replica has just completed it.
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}

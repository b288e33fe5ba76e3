/**
 * Writes a built site into a folder, with its compressed forms, in an order that never shows a page without its
 * files.
 */
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Site } from './build-pages.ts'
import { compress, type Encoding, ENDINGS } from './compress.ts'
import type { MapTiles } from './map-tiles.ts'

/** An unfinished file of this age was left by a killed build. A younger one may belong to a running build. */
const UNFINISHED_MS = 3_600_000
const UNFINISHED = '.new'

/** Lists the files of the build, so that the next one keeps them for readers who have the page open. */
const LIST = '.files.json'

/** A unique name: two builds may write into one folder. */
const unfinished = (file: string): string => `${file}.${crypto.randomUUID()}${UNFINISHED}`

function writeFile(file: string, bytes: Uint8Array | string): void {
  mkdirSync(dirname(file), { recursive: true })
  const written = unfinished(file)
  writeFileSync(written, bytes)
  renameSync(written, file)
}

function copyOnce(from: string, to: string): void {
  if (existsSync(to)) return
  mkdirSync(dirname(to), { recursive: true })
  const written = unfinished(to)
  copyFileSync(from, written, constants.COPYFILE_FICLONE)
  // A copy has the mode of its original, which Caddy may not be allowed to read.
  chmodSync(written, 0o644)
  renameSync(written, to)
}

function readList(directory: string): string[] {
  try {
    return JSON.parse(readFileSync(join(directory, LIST), 'utf8')) as string[]
  } catch {
    // The first build, or a list truncated by a full disk: no files are kept.
    return []
  }
}

/**
 * @param directory used only for the site: files in neither this build nor the previous one are deleted, except those
 *   that another build is writing
 * @param tiles an archive that is copied unchanged, once
 */
export function writeSite(site: Site, directory: string, tiles: MapTiles | null = null): void {
  mkdirSync(directory, { recursive: true })
  const before = readList(directory)
  const written: string[] = []
  const add = (path: string, bytes: Uint8Array): void => {
    writeFile(join(directory, path), bytes)
    written.push(path)
  }
  if (tiles !== null) {
    copyOnce(tiles.file, join(directory, tiles.path))
    written.push(tiles.path)
  }
  const hashedFirst = [...site].sort(([a], [b]) => rank(a) - rank(b))
  for (const [path, bytes] of hashedFirst) {
    // The name identifies the content, and its compressed forms were written before it. A new encoding needs an empty
    // folder.
    if (path.startsWith('/assets/') && existsSync(join(directory, path))) {
      const forms = Object.values(ENDINGS).map((ending) => path + ending)
      written.push(...forms.filter((form) => existsSync(join(directory, form))), path)
      continue
    }
    // Compressed forms first: the original makes them visible.
    for (const [encoding, form] of Object.entries(compress(path, bytes)))
      add(`${path}${ENDINGS[encoding as Encoding]}`, form)
    add(path, bytes)
  }
  writeFile(join(directory, LIST), JSON.stringify(written))
  const keep = new Set([LIST, ...written, ...before.filter((path) => path.startsWith('/assets/'))])
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(directory.length)
    if (!entry.isFile() || keep.has(path) || path === `/${LIST}`) continue
    const file = join(directory, path)
    if (path.endsWith(UNFINISHED) && ageOf(file) < UNFINISHED_MS) continue
    rmSync(file, { force: true })
  }
}

/** Milliseconds since a file was written; 0 when it is gone. */
function ageOf(file: string): number {
  const stats = statSync(file, { throwIfNoEntry: false })
  return stats === undefined ? 0 : Date.now() - stats.mtimeMs
}

/** Assets before pages before service workers, because each refers to the previous ones. */
const rank = (path: string): number => (path.startsWith('/assets/') ? 0 : path.includes('/sw.js') ? 2 : 1)

/** Writes a built site into a folder, with its compressed forms, in an order that never shows a page without its files. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Site } from './build-pages.ts'
import { compress, type Encoding, ENDINGS } from './compress.ts'

/** Names the files of the build, so that the next one keeps them for readers who have the page open. */
const LIST = '.files.json'

function writeFile(file: string, bytes: Uint8Array | string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(`${file}.new`, bytes)
  renameSync(`${file}.new`, file)
}

function readList(directory: string): string[] {
  try {
    return JSON.parse(readFileSync(join(directory, LIST), 'utf8')) as string[]
  } catch {
    // The first build, or a list that a full disk cut off: nothing is kept then.
    return []
  }
}

/**
 * @param directory its own folder: files that neither this build nor the one before has are deleted
 */
export function writeSite(site: Site, directory: string): void {
  mkdirSync(directory, { recursive: true })
  const before = readList(directory)
  const written: string[] = []
  const add = (path: string, bytes: Uint8Array): void => {
    writeFile(join(directory, path), bytes)
    written.push(path)
  }
  const hashedFirst = [...site].sort(([a], [b]) => rank(a) - rank(b))
  for (const [path, bytes] of hashedFirst) {
    // The compressed forms come first: they are newer than nothing, and the original makes them visible.
    for (const [encoding, form] of Object.entries(compress(path, bytes)))
      add(`${path}${ENDINGS[encoding as Encoding]}`, form)
    add(path, bytes)
  }
  writeFile(join(directory, LIST), JSON.stringify(written))
  const keep = new Set([LIST, ...written, ...before.filter((path) => path.startsWith('/assets/'))])
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(directory.length)
    if (entry.isFile() && !keep.has(path) && path !== `/${LIST}`) rmSync(join(directory, path))
  }
}

/** Assets before service workers before pages. */
const rank = (path: string): number => (path.startsWith('/assets/') ? 0 : path.endsWith('index.html') ? 2 : 1)

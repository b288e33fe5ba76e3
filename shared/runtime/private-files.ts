/** What stands on disk is about people: nobody but the owner of the process may read it. */
import { chmodSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Read, write or enter, for the group and all others. */
const OTHERS = 0o077

/** From now on this process makes files that only its owner may read. */
export const makeFilesPrivate = (): void => void process.umask(OTHERS)

/** Whether somebody else may read, write or enter. */
export const isOpenToOthers = (path: string): boolean => (lstatSync(path).mode & OTHERS) !== 0

/** Takes a file or directory away from all but its owner. @throws where it belongs to somebody else */
export function closeToOthers(path: string): void {
  chmodSync(path, lstatSync(path).mode & 0o700)
}

/** The same for everything in a directory, at any depth; links are not followed. */
export function closeAllToOthers(dir: string): void {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name)
    if (entry.isSymbolicLink()) continue
    if (entry.isDirectory()) closeAllToOthers(path)
    // A file of a process that has just ended may be gone meanwhile.
    const mode = lstatSync(path, { throwIfNoEntry: false })?.mode
    if (mode !== undefined && (mode & OTHERS) !== 0) chmodSync(path, mode & 0o700)
  }
}

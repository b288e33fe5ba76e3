/** File permissions: files contain personal data, so only the owner of the process may read them. */
import { chmodSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Permission bits of the group and of other users. */
const OTHERS = 0o077

/** Sets the umask so that only the owner may access the files that this process creates. */
export const setPrivateUmask = (): void => void process.umask(OTHERS)

/** Whether other users may read, write or enter a path. */
export const isOpenToOthers = (path: string): boolean => (lstatSync(path).mode & OTHERS) !== 0

/** Restricts a file or directory to its owner. @throws if it belongs to another user */
export function restrictPathToOwner(path: string): void {
  chmodSync(path, lstatSync(path).mode & 0o700)
}

/** Restricts everything in a directory, recursively; does not follow links. */
export function restrictAllToOwner(dir: string): void {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name)
    if (entry.isSymbolicLink()) continue
    if (entry.isDirectory()) restrictAllToOwner(path)
    // A process that has just ended may have removed its file.
    const mode = lstatSync(path, { throwIfNoEntry: false })?.mode
    if (mode !== undefined && (mode & OTHERS) !== 0) chmodSync(path, mode & 0o700)
  }
}

/** A small disk that a test may fill. */
import { existsSync, readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newDirectory, runToEnd } from './process.ts'

export interface SmallDisk {
  readonly dir: string
  /** Uses up all free space. */
  fill(): Promise<void>
  /** Frees it again. */
  free(): Promise<void>
  unmount(): Promise<void>
}

/** Mounts a file system of `kib` KiB. Without the permission, prints a warning and returns null. */
export async function mountSmallDisk(kib: number): Promise<SmallDisk | null> {
  const dir = await newDirectory('disk')
  try {
    await runToEnd(['mount', '-t', 'tmpfs', '-o', `size=${kib}k`, 'tmpfs', dir])
  } catch (error) {
    await rm(dir, { recursive: true })
    console.warn(`SKIPPED, a full disk: a small one cannot be mounted here. ${(error as Error).message}`)
    return null
  }
  const ballast = join(dir, 'ballast')
  return {
    dir,
    fill: () =>
      writeFile(ballast, new Uint8Array(kib * 1_024)).catch((error: NodeJS.ErrnoException) => {
        // The disk is full.
        if (error.code !== 'ENOSPC') throw error
      }),
    free: () => rm(ballast, { force: true }),
    async unmount() {
      await runToEnd(['umount', '--lazy', dir])
      await rm(dir, { recursive: true })
    },
  }
}

/** Unmounts the small disks below a directory, which interrupted tests leave mounted (Linux only). */
export async function unmountInside(directory: string): Promise<void> {
  if (!existsSync('/proc/self/mounts')) return
  const places = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
  for (const place of places)
    if (place.startsWith(`${directory}/`)) await runToEnd(['umount', '--lazy', place])
}

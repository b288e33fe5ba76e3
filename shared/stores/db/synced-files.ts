/**
 * The file system of the embedded database, with a working fsync. PGlite itself never syncs: a power cut would lose
 * the commits of the last seconds and damage the database.
 */
import { fdatasyncSync } from 'node:fs'
import { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'

/** Start parameters of Postgres. PGlite passes `fsync` on to the file system, but ignores `fdatasync`. */
export const SYNCING = [...PGlite.defaultStartParams, '-c', 'fsync=on', '-c', 'wal_sync_method=fsync']

/** The parts of Emscripten's untyped file system that are used here. */
interface NodeFiles {
  readonly stream_ops: { fsync?: (stream: { readonly nfd?: number }) => number }
  /** Reports an error to Postgres as errno. */
  tryFSOperation(work: () => void): void
}

export class SyncedFiles extends NodeFS {
  /** @param sync syncs an open file to disk */
  constructor(
    dir: string,
    private readonly sync: (fd: number) => void = fdatasyncSync,
  ) {
    super(dir)
  }

  override async init(...given: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(...given)
    const preRun: NonNullable<typeof emscriptenOpts.preRun> = [
      ...(emscriptenOpts.preRun ?? []),
      ({ NODEFS }) => {
        const files = NODEFS as unknown as NodeFiles
        files.stream_ops.fsync = ({ nfd }) => {
          // Directories have no file descriptor.
          if (nfd !== undefined) files.tryFSOperation(() => this.sync(nfd))
          return 0
        }
      },
    ]
    return { emscriptenOpts: { ...emscriptenOpts, preRun } }
  }
}

/**
 * The embedded database's files, on disk when Postgres wants them there. As it comes, PGlite never syncs: what was
 * committed in the last seconds would be lost by a power cut, and the database damaged.
 */
import { fdatasyncSync } from 'node:fs'
import { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'

/** What Postgres is started with. PGlite passes on its `fsync`, and drops its `fdatasync`. */
export const SYNCING = [...PGlite.defaultStartParams, '-c', 'fsync=on', '-c', 'wal_sync_method=fsync']

/** What is used here of Emscripten's file system, which has no types. */
interface NodeFiles {
  readonly stream_ops: { fsync?: (stream: { readonly nfd?: number }) => number }
  /** Tells Postgres of a fault by its number. */
  tryFSOperation(work: () => void): void
}

export class SyncedFiles extends NodeFS {
  /** @param sync brings an open file to the disk */
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
          // Of a directory there is no file descriptor.
          if (nfd !== undefined) files.tryFSOperation(() => this.sync(nfd))
          return 0
        }
      },
    ]
    return { emscriptenOpts: { ...emscriptenOpts, preRun } }
  }
}

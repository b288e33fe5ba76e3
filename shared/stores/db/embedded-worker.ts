/**
 * The worker that runs PGlite behind a socket. Messages in: start, copy, `stop`. It answers each with an error message,
 * empty when it is done.
 */
import { cpSync, lstatSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'
import type { WorkerCopy, WorkerMessage, WorkerStart } from './db.embedded.ts'
import { SYNCING, SyncedFiles } from './synced-files.ts'
import { describeError, LoggableError } from '#shared/runtime/log.ts'

declare const self: Worker

let stop: () => Promise<void> = async () => undefined
let dir = ''

/**
 * Copies the files as of one moment, because Postgres runs on this thread. They are those that a killed process would
 * leave: everything committed is in them.
 */
function copyFiles({ to, leaveBytes }: WorkerCopy): void {
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((name) =>
    lstatSync(join(dir, name)),
  )
  const bytes = files.reduce((sum, file) => sum + file.size, 0)
  const { bavail, bsize } = statfsSync(dir)
  const missing = bytes + leaveBytes - bavail * bsize
  if (missing > 0)
    throw new LoggableError(`its disk lacks ${Math.ceil(missing / 1_000_000)} MB of free space`)
  try {
    cpSync(dir, to, { recursive: true })
  } catch (error) {
    rmSync(to, { recursive: true, force: true })
    throw error
  }
}

self.onmessage = async ({ data }: MessageEvent<WorkerMessage>) => {
  try {
    if (data === 'stop') await stop()
    else if ('to' in data) copyFiles(data)
    else await start(data)
    self.postMessage('')
  } catch (error) {
    self.postMessage(describeError(error))
  }
}

async function start(data: WorkerStart): Promise<void> {
  dir = data.dir
  const files = data.temporary
    ? { dataDir: data.dir }
    : { fs: new SyncedFiles(data.dir), startParams: SYNCING }
  const pglite = await PGlite.create(files)
  // Creating a database leaves some 400 MB of garbage, which the collector frees only after seconds of idle time. The
  // collection is deferred, because objects still referenced by this call's stack cannot be freed.
  setTimeout(() => Bun.gc(true), 0)
  const server = new PGLiteSocketServer({ db: pglite, path: data.socket })
  await server.start()
  stop = async () => {
    await server.stop()
    await pglite.close()
  }
}

/**
 * The worker that runs PGlite behind a socket. Messages in: start, `stop`; out: `ready`, `stopped`, an error message.
 */
import { PGlite } from '@electric-sql/pglite'
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'
import type { WorkerStart } from './db.embedded.ts'
import { SYNCING, SyncedFiles } from './synced-files.ts'
import { describeError } from '#shared/runtime/log.ts'

declare const self: Worker

let stop: () => Promise<void> = async () => undefined

self.onmessage = async ({ data }: MessageEvent<WorkerStart | 'stop'>) => {
  try {
    if (data === 'stop') {
      await stop()
      self.postMessage('stopped')
      return
    }
    const pglite = await PGlite.create({ fs: new SyncedFiles(data.dir), startParams: SYNCING })
    // Creating a database leaves some 400 MB of garbage, which the collector frees only after seconds of idle time. The
    // collection is deferred, because objects still referenced by this call's stack cannot be freed.
    setTimeout(() => Bun.gc(true), 0)
    const server = new PGLiteSocketServer({ db: pglite, path: data.socket })
    await server.start()
    stop = async () => {
      await server.stop()
      await pglite.close()
    }
    self.postMessage('ready')
  } catch (error) {
    self.postMessage(describeError(error))
  }
}

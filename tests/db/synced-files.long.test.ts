/** Commits of the embedded database are synced to disk. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { fdatasyncSync, readlinkSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import { SYNCING, SyncedFiles } from '#shared/stores/db/synced-files.ts'
import { newDirectory } from '#tests/helpers/process.ts'

let dir: string
beforeAll(async () => {
  dir = await newDirectory('synced')
})
afterAll(() => rm(dir, { recursive: true }))

test.skipIf(process.platform !== 'linux')(
  'each commit syncs the write-ahead log, a checkpoint the tables',
  async () => {
    let synced: string[] = []
    const sync = (fd: number) => {
      synced.push(readlinkSync(`/proc/self/fd/${fd}`))
      fdatasyncSync(fd)
    }
    const pglite = await PGlite.create({
      fs: new SyncedFiles(join(dir, 'alone'), sync),
      startParams: SYNCING,
    })
    await pglite.exec('CREATE TABLE said (word text)')
    for (let n = 0; n < 3; n++) {
      synced = []
      await pglite.query('INSERT INTO said VALUES ($1)', [`word ${n}`])
      expect(synced).toEqual([expect.stringContaining('/pg_wal/')])
    }
    synced = []
    await pglite.exec('CHECKPOINT')
    expect(synced).toContainEqual(expect.stringMatching(/\/base\/\d+\/\d+$/))
    await pglite.close()
  },
)

test('the embedded run behaves the same', async () => {
  const db = await openDatabase({ url: '', dir: join(dir, 'driver') })
  const [settings] = await db.sql`
    SELECT current_setting('fsync') AS fsync, current_setting('wal_sync_method') AS method,
      current_setting('full_page_writes') AS pages, current_setting('synchronous_commit') AS commits`
  expect(settings).toEqual({ fsync: 'on', method: 'fsync', pages: 'on', commits: 'on' })
  await db.close()
})

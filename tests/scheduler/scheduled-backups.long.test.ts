/** Scheduled backups, taken and restored by the commands that operators type, on stores that fail. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readdirSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { verifyBackup, writeArchive } from '#services/admin/backup/archive.ts'
import { createScheduledBackups, environmentOf, momentOf } from '#services/scheduler/scheduled-backups.ts'
import { environment } from '#shared/runtime/config/config.ts'
import { createLog } from '#shared/runtime/log.ts'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { FREE_BYTES } from '#shared/service/alerts/health-checks.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { readSchedule } from '#shared/service/last-backup.ts'
import { fill, type Opened, openInstallation } from '#tests/admin/backup-harness.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { freePort } from '#tests/helpers/servers.ts'
import { mountSmallDisk } from '#tests/helpers/small-disk.ts'
import { until } from '#tests/helpers/wait.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** So long ago that no store has an earlier clock. */
const START = Date.now() - 90 * DAY

const isPartial = (name: string): boolean => name.includes('.partial-')

describeOnServers('scheduled backups', () => {
  let opened: Opened
  beforeAll(async () => {
    opened = await openInstallation('real')
    await fill(opened)
  })
  afterAll(() => opened?.close())

  /** Keeps every backup waiting for a table, so that none is complete before `run` has ended. */
  const whileBackupsWait = <T>(run: () => Promise<T>): Promise<T> =>
    opened.installation.db.transaction(async ({ sql }) => {
      await sql`LOCK TABLE gps_points IN ACCESS EXCLUSIVE MODE`
      return run()
    })

  /** A schedule with its own folder and clock. */
  async function scheduled({ everyMs = DAY, keep = 3, dir = '', gone = {} } = {}) {
    const { installation } = opened
    await installation.kv.forget('backup-schedule')
    const folder = dir || (await newDirectory('scheduled'))
    const logged: string[] = []
    let nowMs = START
    const create = () => {
      const config = { ...installation.config, backup: { dir: folder, maxBytes: Infinity, everyMs, keep } }
      const context = {
        ...installation,
        config: { ...config, ...gone },
        now: () => nowMs,
        stopwatch: () => () => (nowMs === START ? 0 : HOUR),
        log: createLog({}, (line) => void logged.push(line)),
        metrics: createMetrics('scheduler'),
      }
      return createScheduledBackups(context as unknown as ServiceContext)
    }
    const backups = create()
    return {
      folder,
      logged,
      backups,
      create,
      files: () => (existsSync(folder) ? readdirSync(folder).sort() : []),
      state: () => readSchedule(installation.kv),
      /** @returns the time of the check */
      async lookAfter(ms: number): Promise<number> {
        nowMs += ms
        await backups.look()
        return nowMs
      },
    }
  }

  test('takes one a day, restores it into a scratch database, and keeps so many', async () => {
    const { folder, backups, create, files, logged, state, lookAfter } = await scheduled({ keep: 2 })
    writeFileSync(join(folder, 'event-2020-01-01T00-00-00Z.jsonl.zst'), 'by hand')
    const remains = ['partial-0a1b2c3d', 'scratch-0a1b2c3d'].map((end) => `scheduled-x.jsonl.zst.${end}`)
    for (const name of remains) {
      writeFileSync(join(folder, name), '')
      utimesSync(join(folder, name), 0, 0)
    }
    // A process that has just started takes no backup.
    await backups.look()
    expect(await state()).toBeNull()

    const first = await lookAfter(HOUR)
    expect(logged).toEqual([])
    expect(files()).toHaveLength(2)
    expect(files().map(momentOf)).toEqual([null, first])
    expect(await state()).toEqual({
      everyMs: DAY,
      sinceMs: first,
      restorableMs: first,
      provenMs: first,
      checkedMs: first,
      checkTriedMs: first,
      backupFailedMs: null,
      checkFailedMs: null,
      lookedMs: first,
      resumedMs: null,
      ownMs: expect.any(Number) as number,
    })
    const { counts } = await verifyBackup(join(folder, files()[1]!))
    expect(counts.rows.gps_points).toBeGreaterThan(500)
    await lookAfter(DAY - MINUTE)
    expect(files()).toHaveLength(2)
    // Two schedulers take one backup.
    const other = create()
    await Promise.all([lookAfter(2 * MINUTE), other.look()])
    expect(files()).toHaveLength(3)
    const next = await lookAfter(DAY)
    const last = await lookAfter(DAY)
    expect(files().map(momentOf)).toEqual([null, next, last])
    expect(logged).toEqual([])
  }, 180_000)

  test('beside good backups one that cannot be restored is found, and replaced within the hour', async () => {
    const { folder, files, logged, state, lookAfter } = await scheduled({ everyMs: 2 * DAY })
    const good = await lookAfter(HOUR)
    const bad = await lookAfter(2 * DAY)
    truncateSync(join(folder, files()[1]!), 5_000)
    const found = await lookAfter(DAY + MINUTE)
    expect(await state()).toMatchObject({ restorableMs: good, provenMs: good, checkFailedMs: found })
    expect(logged.join()).toContain('is damaged: it is cut off')
    const again = await lookAfter(HOUR)
    expect(files().map(momentOf)).toEqual([good, bad, again])
    expect(await state()).toMatchObject({ restorableMs: again, provenMs: again, checkFailedMs: null })
  }, 120_000)

  test('a store that is gone fails the backup, which is tried again after an hour', async () => {
    const away = await scheduled({ gone: { redisUrl: `redis://127.0.0.1:${freePort()}` } })
    const failed = await away.lookAfter(HOUR)
    expect(away.logged.join()).toMatch(/does not answer/)
    expect(await away.state()).toMatchObject({
      restorableMs: null,
      backupFailedMs: failed,
      checkedMs: null,
    })
    expect(away.files()).toEqual([])
    await away.lookAfter(HOUR - MINUTE)
    expect(away.logged).toHaveLength(1)
    await away.lookAfter(2 * MINUTE)
    expect(away.logged).toHaveLength(2)
  }, 60_000)

  test('a disk without room for the first backup is left alone', async () => {
    const disk = await mountSmallDisk(FREE_BYTES / 1_024 + 4_096)
    if (disk === null) return
    try {
      const small = await scheduled({ dir: disk.dir })
      const failed = await small.lookAfter(HOUR)
      expect(small.logged.join()).toContain('the disk of the backups is almost full')
      expect(await small.state()).toMatchObject({ restorableMs: null, backupFailedMs: failed })
    } finally {
      await disk.unmount()
    }
  }, 60_000)

  test('a backup ends when its disk becomes almost full', async () => {
    const disk = await mountSmallDisk(FREE_BYTES / 1_024 + 262_144)
    if (disk === null) return
    try {
      const { logged, files, state, lookAfter } = await scheduled({ dir: disk.dir })
      const failed = await whileBackupsWait(async () => {
        const looking = lookAfter(HOUR)
        await until(() => files().some(isPartial), 'a backup in progress')
        await disk.fill()
        return await looking
      })
      expect(logged.join()).toContain('the disk of the backups is almost full')
      expect(await state()).toMatchObject({ restorableMs: null, backupFailedMs: failed })
      expect(files().filter((name) => name !== 'ballast')).toEqual([])
    } finally {
      await disk.unmount()
    }
  }, 60_000)

  test('a stop ends a backup in progress at once, and leaves no part of it', async () => {
    const { backups, logged, files, state, lookAfter } = await scheduled()
    await whileBackupsWait(async () => {
      const looking = lookAfter(HOUR)
      await until(() => files().some(isPartial), 'a backup in progress')
      const stopped = performance.now()
      await backups.stop()
      expect(performance.now() - stopped).toBeLessThan(5_000)
      await looking
    })
    expect(files()).toEqual([])
    expect(logged).toEqual([])
    expect(await state()).toMatchObject({ restorableMs: null, backupFailedMs: null })
  }, 60_000)

  test('a backup by an operator ends at a signal, and leaves no part of it', async () => {
    const dir = await newDirectory('stopped')
    await whileBackupsWait(async () => {
      const env = environmentOf(opened.installation.config, environment())
      const child = Bun.spawn([process.execPath, 'services/admin/backup.ts', '--to', dir], { env })
      await until(() => readdirSync(dir).some(isPartial), 'a backup in progress')
      child.kill('SIGTERM')
      expect(await child.exited).toBe(143)
    })
    expect(readdirSync(dir)).toEqual([])
  }, 60_000)

  test('a full disk keeps no part of a backup', async () => {
    const disk = await mountSmallDisk(256)
    if (disk === null) return
    try {
      const path = join(disk.dir, 'full.jsonl.zst')
      const noise = () => Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString('base64')
      const writing = writeArchive(path, async (write) => {
        for (let i = 0; i < 20; i++) await write(JSON.stringify({ noise: noise() }))
      })
      expect(String(await rejection(writing))).toContain('ENOSPC')
      expect(readdirSync(disk.dir)).toEqual([])
    } finally {
      await disk.unmount()
    }
  }, 60_000)

  test('a folder that cannot be used is told once, and used as soon as it can be', async () => {
    const parent = await newDirectory('no-folder')
    writeFileSync(join(parent, 'backups'), 'a file')
    const { logged, state, lookAfter, files } = await scheduled({ dir: join(parent, 'backups') })
    const since = await lookAfter(HOUR)
    expect(await state()).toMatchObject({ sinceMs: since, restorableMs: null, backupFailedMs: since })
    await lookAfter(MINUTE)
    expect(logged).toHaveLength(1)
    await rm(join(parent, 'backups'))
    await lookAfter(HOUR)
    expect(files()).toHaveLength(1)
  }, 60_000)
})

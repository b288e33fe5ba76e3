/**
 * A continuous archive by pgBackRest, as services/archive.yml runs it: real Postgres, its archive in a folder, the
 * scripts of the containers, and the command of the operator.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync, realpathSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import postgres from 'postgres'
import { archiveDueMs, followArchive, readArchive } from '#shared/service/continuous-archive.ts'
import { newestBackupMs } from '#shared/service/last-backup.ts'
import { verifyBackup } from '#services/admin/backup/archive.ts'
import { backUpRecovered, restoreBackup } from '#services/admin/restore.ts'
import { eraseUser } from '#services/admin/erasure/erase-pilgrim.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { newDirectory, ROOT, startServer } from '#tests/helpers/process.ts'
import { commandPath, ensurePrograms, PGBACKREST } from '#tests/helpers/programs.ts'
import { freePort, type Server, startPostgres, startRedis } from '#tests/helpers/servers.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { until } from '#tests/helpers/wait.ts'
import { point } from '#tests/scheduler/walks.ts'
import {
  contents,
  fill,
  leaveOneConnection,
  type Opened,
  OPERATOR,
  openInstallation,
} from './backup-harness.ts'

const SCRIPTS = join(ROOT, 'services/archive')
const MINUTES = 60_000

describeOnServers('a continuous archive', () => {
  // Postgres refuses to run as root.
  const user = process.getuid?.() === 0 ? 'postgres' : undefined
  let store: Server
  let redis: Server
  let baseBackups: Server
  let opened: Opened
  let settings: Record<string, string>
  let recoveredDir = ''

  beforeAll(async () => {
    await ensurePrograms([PGBACKREST])
    const archive = await newDirectory('archive', user)
    recoveredDir = await newDirectory('recovered', user)
    const sockets = await newDirectory('sockets', user)
    const bin = dirname(realpathSync(commandPath('initdb')))
    settings = {
      PATH: `${bin}:${process.env.PATH!}`,
      PGHOST: sockets,
      PGUSER: 'postgres',
      PGDATABASE: 'postgres',
      PGBACKREST_STANZA: 'event',
      PGBACKREST_PG1_SOCKET_PATH: sockets,
      PGBACKREST_PG1_USER: 'postgres',
      PGBACKREST_REPO1_PATH: archive,
      PGBACKREST_REPO1_RETENTION_FULL: '2',
      PGBACKREST_LOCK_PATH: sockets,
      PGBACKREST_LOG_LEVEL_CONSOLE: 'warn',
      PGBACKREST_LOG_LEVEL_FILE: 'off',
    }
    store = await startPostgres({
      env: settings,
      args: [`unix_socket_directories=${sockets}`, 'archive_mode=on', 'archive_timeout=2'],
    })
    settings = {
      ...settings,
      PGPORT: String(store.port),
      PGBACKREST_PG1_PORT: String(store.port),
      PGBACKREST_PG1_PATH: join(store.dir, 'data'),
    }
    redis = await startRedis()
    const command = `pgbackrest --pg1-path=${settings.PGBACKREST_PG1_PATH} archive-push %p`
    opened = await openInstallation('real', { DATABASE_URL: store.url, REDIS_URL: redis.url })
    await opened.installation.db.sql.unsafe(`ALTER SYSTEM SET archive_command = '${command}'`)
    await opened.installation.db.sql`SELECT pg_reload_conf()`
    await until(
      async () => (await follow(), (await readArchive(opened.installation.kv)) !== null),
      'the setting',
    )
  }, 2 * MINUTES)
  afterAll(async () => {
    await opened?.close()
    await baseBackups?.close()
    for (const server of [store, redis]) await server?.close()
  })

  /** Runs a script of `services/archive` until it is stopped. */
  const run = (script: string, own: Record<string, string>, port: number, ready: () => Promise<boolean>) =>
    newDirectory('script', user).then((dir) =>
      startServer({
        name: script,
        command: ['sh', join(SCRIPTS, `${script}.sh`), ...(script === 'recovered' ? settingsAt(port) : [])],
        dir,
        port,
        url: `postgres://postgres@127.0.0.1:${port}/postgres`,
        env: { ...settings, ...own },
        ready,
        ...(user === undefined ? {} : { user }),
      }),
    )
  const settingsAt = (port: number) => ['-p', `${port}`, '-c', 'unix_socket_directories=']

  const recover = (to: string) => {
    const port = freePort()
    const own = { PGBACKREST_PG1_PATH: recoveredDir, RESTORE_TO: to }
    return run('recovered', own, port, async () => {
      const client = postgres(`postgres://postgres@127.0.0.1:${port}/postgres`, { max: 1 })
      try {
        return (await client<[{ done: boolean }]>`SELECT NOT pg_is_in_recovery() AS done`)[0].done
      } finally {
        await client.end()
      }
    })
  }

  const follow = () => followArchive(opened.installation)
  const restorable = async () => (await readArchive(opened.installation.kv))?.restorableMs ?? null

  test('nothing can be restored without a base backup, and the owner is alerted', async () => {
    const archive = (await readArchive(opened.installation.kv))!
    expect(archive.restorableMs).toBeNull()
    expect(archiveDueMs(archive)).toBe(archive.sinceMs + 15 * MINUTES)
    baseBackups = await run('base-backups', {}, store.port, async () => {
      const [row] = await opened.installation.db.sql<[{ noted: string | null }]>`
        SELECT shobj_description(oid, 'pg_database') AS noted FROM pg_database WHERE datname = current_database()`
      return row.noted?.startsWith('base backup ') === true
    })
    await follow()
    await until(async () => (await follow(), (await restorable()) !== null), 'a segment to be archived')
  })

  test(
    'a minute is restored: a mistake is undone, what waits stays, and an erasure stays done',
    async () => {
      const { installation, harness } = opened
      await fill(opened)
      const { sql } = installation.db
      const [{ moment }] = await sql<[{ moment: string }]>`
      SELECT to_char(clock_timestamp(), 'YYYY-MM-DD HH24:MI:SS.USOF') AS moment`
      const before = await contents(opened)
      // A mistake, an erasure, and a check-in, all later.
      harness.nowMs = Date.now()
      await sql`DELETE FROM gps_points WHERE user_id <> 'walker-5'`
      await sql`UPDATE pilgrims SET display_name = 'all the same'`
      await eraseUser({ ...installation, calendar: harness.calendar } as ServiceContext, OPERATOR, 'walker-5')
      await harness.buffer('walker-1', [point({ kind: 'c', sentMs: harness.nowMs + 5_000 })])
      const pending = await harness.pending()
      const laterMs = Date.now()
      await until(
        async () => (await follow(), ((await restorable()) ?? 0) > laterMs),
        'the archive to have everything',
      )
      expect(await newestBackupMs(installation.kv)).toBe(await restorable())

      await using recovered = await recover(moment)
      await leaveOneConnection(opened)
      const path = join(await newDirectory('backups'), 'recovered.jsonl.zst')
      await backUpRecovered(installation, recovered.url, path)
      await restoreBackup(installation, await verifyBackup(path), { replace: true, paused: false })
      const after = await contents(opened)
      const others = (rows: readonly string[]) => rows.filter((row) => !row.includes('walker-5'))
      for (const table of ['pilgrims', 'gps_points', 'surveys', 'shares', 'activity'])
        expect({ table, rows: after.tables[table] }).toEqual({ table, rows: others(before.tables[table]!) })
      expect(after.tables.erasures).toHaveLength(before.tables.erasures!.length + 1)
      // What was in journals is pending now.
      expect(await harness.pending()).toEqual(expect.arrayContaining(pending))
      await recovered.stop('SIGTERM')
      expect(readdirSync(recoveredDir)).toEqual([])
    },
    5 * MINUTES,
  )

  test(
    'an archive that was emptied begins anew by itself',
    async () => {
      const emptiedMs = Date.now()
      for (const name of readdirSync(settings.PGBACKREST_REPO1_PATH!))
        rmSync(join(settings.PGBACKREST_REPO1_PATH!, name), { recursive: true })
      await until(
        async () => (await follow(), ((await restorable()) ?? 0) > emptiedMs),
        'a new base backup, and what was committed after it',
        { timeoutMs: 3 * MINUTES, everyMs: 1_000 },
      )
    },
    5 * MINUTES,
  )

  test('a database that was not recovered is refused, and so is a time that is none', async () => {
    const dir = await newDirectory('backups')
    await leaveOneConnection(opened)
    const refusal = await rejection(
      backUpRecovered(opened.installation, store.url, join(dir, 'file.jsonl.zst')),
    )
    expect(String(refusal)).toContain('was not recovered from an archive')
    expect(readdirSync(dir)).toEqual([])
    const script = Bun.spawnSync(['sh', join(SCRIPTS, 'recovered.sh')], {
      env: { ...settings, PGBACKREST_PG1_PATH: recoveredDir, RESTORE_TO: 'yesterday' },
    })
    expect([script.exitCode, script.stderr.toString()]).toEqual([
      2,
      "RESTORE_TO must be newest, or a time like 2026-04-12 10:15:00+08; it is 'yesterday'\n",
    ])
  })
})

/**
 * Backups that are rejected (damaged, newer, or the installation is not empty) or changed on restore (older,
 * paused).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import {
  kindOf,
  readArchive,
  rowsOf,
  writeArchive,
  CommandRefused,
  verifyBackup,
} from '#services/admin/backup/archive.ts'
import { summary } from '#services/admin/backup/command.ts'
import { restoreBackup } from '#services/admin/restore.ts'
import { takeBackup } from '#services/admin/backup/take-backup.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import { migrateDatabase, MIGRATIONS, readSchema } from '#shared/stores/db/migrate.ts'
import { RELEASE } from '#shared/runtime/release.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { embeddedOnly } from '#tests/helpers/suite.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { walk } from '#tests/scheduler/walks.ts'
import {
  backUp,
  contents,
  fill,
  journaled,
  leaveJournal,
  type Opened,
  openInstallation,
} from './backup-harness.ts'

const OPEN_MS = 60_000
const PLAIN = { replace: false, paused: false }
const REPLACE = { ...PLAIN, replace: true }

const linesOf = async (path: string): Promise<string[]> => Array.fromAsync(readArchive(path))

function contentOf(archive: Buffer): string | null {
  try {
    return zstdDecompressSync(archive).toString()
  } catch {
    return null
  }
}

/**
 * Flips a bit, in this byte or after it. About one flip in 700 only changes a reference between identical
 * words.
 */
function flippedFrom(bytes: Buffer, from: number): Buffer {
  const content = contentOf(bytes)
  for (let at = from; at < bytes.length; at++) {
    const flipped = Buffer.from(bytes)
    flipped[at]! ^= 0x10
    if (contentOf(flipped) !== content) return flipped
  }
  throw new Error('No bit of the rest matters.')
}

describe('a backup, and its restore', () => {
  const kind = embeddedOnly ? 'embedded' : 'real'
  let source: Opened
  let target: Opened
  let path: string
  beforeAll(async () => {
    ;[source, target] = [await openInstallation(kind), await openInstallation(kind)]
    await fill(source)
    path = await backUp(source)
  }, 2 * OPEN_MS)
  afterAll(async () => {
    await source?.close()
    await target?.close()
  })

  /** The archive with modified lines and a valid checksum. */
  async function altered(change: (lines: string[]) => string[]): Promise<string> {
    const other = join(target.dir, `${crypto.randomUUID()}.jsonl.zst`)
    const lines = change(await linesOf(path))
    await writeArchive(other, async (write) => {
      for (const line of lines) await write(line)
    })
    return other
  }
  const refusal = async (call: Promise<unknown>): Promise<string> => {
    const error = await rejection(call)
    expect(error).toBeInstanceOf(CommandRefused)
    return (error as Error).message
  }

  test('a damaged backup is refused before anything is written, wherever the damage is', async () => {
    const bytes = readFileSync(path)
    const text = zstdDecompressSync(bytes).toString()
    const file = join(target.dir, 'damaged')
    const damages = [
      bytes.subarray(0, bytes.length >> 1),
      bytes.subarray(0, -20),
      Buffer.concat([bytes, bytes]),
      Buffer.from('no backup at all'),
      zstdCompressSync(Buffer.from(text.replace('"paused"', '"active"'))),
      zstdCompressSync(Buffer.from(text.replace('{"end":', '{"end":Z'))),
      zstdCompressSync(
        Buffer.from(text.replace('{"rows":"erasures","are":[', '{"rows":"erasures","are":[Z')),
      ),
      zstdCompressSync(Buffer.from(text.split('\n').slice(0, -2).join('\n'))),
      ...[0.2, 0.5, 0.8].map((part) => flippedFrom(bytes, Math.floor(bytes.length * part))),
    ]
    for (const damage of damages) {
      writeFileSync(file, damage)
      expect(await refusal(verifyBackup(file))).toMatch(
        /is damaged: it is cut off, or its bytes have changed/,
      )
    }
    expect(await refusal(verifyBackup(join(target.dir, 'nothing')))).toMatch(/can not be read: ENOENT/)
    expect(await refusal(verifyBackup(await altered((lines) => lines.slice(1))))).toMatch(/is not a backup/)
  })

  test('a backup of a newer release is refused', async () => {
    const newer = await altered(([header, ...rest]) => [
      header!.replace('"0000_init"', '"0000_init","9999_next"'),
      ...rest,
    ])
    expect(await refusal(verifyBackup(newer))).toMatch(/made by a newer release \(9999_next\)/)
    const format = await altered(([header, ...rest]) => [
      header!.replace('"backup":1', '"backup":2'),
      ...rest,
    ])
    expect(await refusal(verifyBackup(format))).toMatch(/made by a newer release \(format 2\)/)
  })

  test('a backup that lacks rows is refused, and the database is unchanged', async () => {
    const { installation } = target
    const before = await contents(target)
    const lacking = await altered((lines) => lines.filter((line) => !line.startsWith('{"rows":"feedback"')))
    const call = restoreBackup(installation, await verifyBackup(lacking), REPLACE)
    expect(await refusal(call)).toBe('The backup contains 0 rows of feedback, but its own count is 1.')
    expect((await contents(target)).tables).toEqual(before.tables)
  })

  test.each([
    [
      'an id',
      (line: string) => line.replace('"userId":"only-journaled"', '"userId":"a;b\\ncheckin;eve;i||0;;0"'),
    ],
    ['a value', (line: string) => line.replace(/"value":"/, '"value":"[0,1,2,3,1]\\ncheckin;eve;i||0;;0\\n')],
    ['an identity', (line: string) => line.replace(/"field":"/, '"field":"c1\\n')],
    ['a place', (line: string) => line.replace(/^(\{"live":\[\{"userId":)"[^"]*"/, '$1"a\\nb"')],
  ])('a backup with an injected line is refused: %s', async (_, alter) => {
    const before = await contents(target)
    let changed = 0
    const forged = await altered((lines) =>
      lines.map((line) => {
        const other = ['waiting', 'live'].includes(kindOf(line)) ? alter(line) : line
        if (other !== line) changed++
        return other
      }),
    )
    expect(changed).toBeGreaterThan(0)
    expect(await refusal(verifyBackup(forged))).toMatch(/has been altered. Nothing is restored from it/)
    expect(await contents(target)).toEqual(before)
  })

  test('a restore into an installation that is not empty is refused; with --replace everything in it is deleted', async () => {
    const { installation, harness } = target
    await harness.buffer('somebody', walk(3))
    await leaveJournal(installation, [journaled('somebody', walk(1))])
    await installation.objects.put('cards/somebody.png', new Uint8Array([1]), { contentType: 'image/png' })
    await installation.db.sql`INSERT INTO consents (user_id, agreed, at) VALUES ('somebody', true, now())`
    await installation.kv.setStatus({ status: 'active', version: 99, message: null })
    const backup = await verifyBackup(path)
    expect(await refusal(restoreBackup(installation, backup, PLAIN))).toMatch(
      /not empty: it has .*rows in consents, .*pending points of \d+ pilgrims, 1 journaled check-ins, objects such as cards/,
    )
    expect(await restoreBackup(installation, backup, REPLACE)).toBe('paused')
    expect(JSON.stringify(await contents(target))).not.toContain('somebody')
    expect(await installation.kv.status()).toMatchObject({ status: 'paused', version: 5 })
    await harness.flush()
    expect(JSON.stringify(await contents(target))).not.toContain('somebody')
  })

  test.skipIf(embeddedOnly)('a restore is refused while services are connected', async () => {
    const { installation } = target
    const service = await openDatabase({ url: installation.config.databaseUrl, dir: '' })
    await service.probe()
    expect(await refusal(restoreBackup(installation, await verifyBackup(path), REPLACE))).toMatch(
      /^Services are connected to the database \(1 connections\): stop them first/,
    )
    await service.close()
    const { redisUrl } = installation.config
    const other = await openKv({ url: redisUrl, partitions: 1, path: '', onError: () => undefined })
    expect(await refusal(restoreBackup(installation, await verifyBackup(path), REPLACE))).toMatch(
      /^Services are connected to the kv \(\d connections\): stop them first/,
    )
    await other.close()
  })

  test('an active event is restored as active, or as paused on request', async () => {
    const { installation } = target
    await source.installation.db.sql`UPDATE activity SET status = 'active', version = 6`
    const active = await verifyBackup(await backUp(source))
    expect(await restoreBackup(installation, active, REPLACE)).toBe('active')
    expect(await restoreBackup(installation, active, { ...REPLACE, paused: true })).toBe('paused')
    expect(await installation.kv.status()).toMatchObject({ status: 'paused', version: 7 })
  })

  test('a backup of an older release is migrated to the current schema', async () => {
    const { installation } = target
    // This release has a later migration, which the backup does not know.
    const later = {
      name: '9998_shoes',
      madeMs: MIGRATIONS.at(-1)!.madeMs + 1,
      sql: 'ALTER TABLE pilgrims ADD COLUMN shoe_size integer DEFAULT 42',
    }
    const migrations = [...MIGRATIONS, later]
    const tables = ['activity', 'pilgrims', 'gps_points', 'audit_log']
    const older = await altered((lines) =>
      lines.flatMap((line) => {
        if (kindOf(line) === 'rows') return tables.includes(rowsOf(line).table) ? [line] : []
        if (kindOf(line) !== 'end') return [line]
        const { end } = JSON.parse(line) as { end: { rows: Record<string, number> } }
        const rows = Object.fromEntries(tables.map((table) => [table, end.rows[table]]))
        return [JSON.stringify({ end: { ...end, rows } })]
      }),
    )
    await restoreBackup(installation, await verifyBackup(older), { ...REPLACE, migrations })
    expect(await readSchema(installation.db, migrations)).toEqual(migrations.map(({ name }) => name))
    const [row] = await installation.db.sql<
      { n: number }[]
    >`SELECT count(*)::int AS n FROM pilgrims WHERE shoe_size = 42`
    expect(row!.n).toBeGreaterThan(5)
  })

  test('a restore into the database of a later release leaves none of its tables', async () => {
    const { installation } = target
    const later = {
      name: '9999_next',
      madeMs: MIGRATIONS.at(-1)!.madeMs + 1,
      sql: `-- Readable from ${RELEASE}\nCREATE TABLE next_steps (user_id text PRIMARY KEY)`,
    }
    const migrations = [...MIGRATIONS, later]
    let from = path
    // Repeatedly: rolled back to a backup, upgraded, backed up by this release.
    for (let upgrade = 0; upgrade < 2; upgrade++) {
      await restoreBackup(installation, await verifyBackup(from), REPLACE)
      await migrateDatabase(installation.db, { migrations })
      from = await backUp(target)
    }
    expect((await verifyBackup(from)).header.schema).toEqual(MIGRATIONS.map(({ name }) => name))
  })

  test('a restore leaves the tables of other programs', async () => {
    const { installation } = target
    await restoreBackup(installation, await verifyBackup(path), REPLACE)
    await installation.db.sql`CREATE TABLE others_rows (id integer)`
    await restoreBackup(installation, await verifyBackup(path), REPLACE)
    expect(await installation.db.sql`SELECT FROM others_rows`).toHaveLength(0)
    await installation.db.sql`DROP TABLE others_rows`
  })

  test('an existing file is not replaced, and a failed backup leaves no file', async () => {
    expect(await refusal(writeArchive(path, (write) => takeBackup(source.installation, write)))).toMatch(
      /exists already/,
    )
    const failing = join(source.dir, 'failing.jsonl.zst')
    const { kv } = source.installation
    const away = {
      ...source.installation,
      kv: { ...kv, moved: () => Promise.reject(new Error('away')) },
    }
    expect(String(await rejection(writeArchive(failing, (write) => takeBackup(away, write))))).toContain(
      'away',
    )
    const unread = writeArchive(
      failing,
      (write) => takeBackup(source.installation, write),
      () => Promise.reject(new Error('other bytes')),
    )
    expect(String(await rejection(unread))).toContain('other bytes')
    expect(readdirSync(source.dir).filter((name) => name.includes('failing'))).toEqual([])
  })

  test('a damaged picture is left out and counted, and the rest is in the backup', async () => {
    const { objects } = source.installation
    const keys = ['screenshots/one.png', 'screenshots/two.png', 'screenshots/three.png']
    for (const key of keys) await objects.put(key, new Uint8Array(9), { contentType: 'image/png' })
    const file = readdirSync(source.dir, { recursive: true, encoding: 'utf8' }).find((name) =>
      name.endsWith('two.png'),
    )!
    truncateSync(join(source.dir, file), 100)
    try {
      const backup = await backUp(source)
      const lines = (await linesOf(backup)).filter((line) => kindOf(line) === 'object').join()
      expect(keys.map((key) => lines.includes(key))).toEqual([true, false, true])
      const { counts } = await verifyBackup(backup)
      expect(counts.damaged).toBe(1)
      expect(summary(counts)).toEndWith('; 1 damaged objects are left out')
    } finally {
      for (const key of keys) await objects.delete(key)
    }
  })

  test('the error names the store that does not answer', async () => {
    const { kv } = source.installation
    const away = {
      ...source.installation,
      kv: { ...kv, probe: () => Promise.reject(new Error('refused')) },
    }
    expect(await refusal(takeBackup(away, async () => undefined))).toMatch(/The kv \(Redis\) does not answer/)
  })
})

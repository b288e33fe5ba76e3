/** Installations without services: a database, a kv, objects and journals, which tests fill and compare. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { beginAnew } from '#shared/pilgrims/person-lock.ts'
import { eraseUser } from '#services/admin/erasure/erase-pilgrim.ts'
import { writeArchive } from '#services/admin/backup/archive.ts'
import { type Installation, journalsOf, takeBackup, TABLES } from '#services/admin/backup/take-backup.ts'
import { openJournal } from '#shared/points/journal/journal.ts'
import { pack, type Point } from '#shared/points/point.ts'
import { readConfig } from '#shared/runtime/config/config.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { migrateDatabase } from '#shared/stores/db/migrate.ts'
import type { Submission } from '#shared/stores/kv/kv.ts'
import { createLog } from '#shared/runtime/log.ts'
import { openStores } from '#shared/service/service.ts'
import { openTestDatabase, testRedisUrl } from '#tests/helpers/database.ts'
import { copyMigratedDatabase } from '#tests/helpers/migrated-database.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { rules } from '#tests/kv/drivers.ts'
import { NOON, FlushHarness } from '#tests/scheduler/flush-harness.ts'
import { createRandom } from '#tests/helpers/random.ts'
import { until } from '#tests/helpers/wait.ts'
import { jumbled, point, walk, wander } from '#tests/scheduler/walks.ts'

export type Kind = 'embedded' | 'real'

export interface Opened {
  readonly installation: Installation
  /** Flushes the installation. */
  readonly harness: FlushHarness
  readonly dir: string
  close(): Promise<void>
}

/**
 * Opens an empty installation, whose clock starts at noon.
 * @param servers of a test that has its own
 */
export async function openInstallation(
  kind: Kind,
  servers?: { readonly DATABASE_URL: string; readonly REDIS_URL: string },
): Promise<Opened> {
  const dir = await newDirectory('installation')
  const database = kind === 'real' && servers === undefined ? await openTestDatabase() : null
  if (kind === 'embedded') await copyMigratedDatabase(dir)
  const config = readConfig({
    EVENT_DATA_DIR: dir,
    ...(database !== null && { DATABASE_URL: database.url, REDIS_URL: await testRedisUrl() }),
    ...servers,
  })
  const { close, ...stores } = await openStores(
    config,
    createLog({}, () => undefined),
    (db) => migrateDatabase(db),
  )
  const harness = new FlushHarness()
  Object.assign(harness, { db: stores.db, kv: stores.kv })
  await harness.kv.setStatus({ status: 'active', version: 1, message: null })
  return {
    installation: { ...stores, config, now: () => harness.nowMs },
    harness,
    dir,
    async close() {
      await close()
      await database?.drop()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

/** Closes the pool's idle connections, because a restore treats further connections as running services. */
export async function leaveOneConnection({
  installation: { db },
}: Pick<Opened, 'installation'>): Promise<void> {
  await db.sql`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'event' AND pid <> pg_backend_pid()`
  await until(() => db.probe().then(() => true), 'the pool to notice')
}

/** A submission in a journal's form. */
export const journaled = (userId: string, points: readonly Point[]): Submission => ({
  id: crypto.randomUUID(),
  userId,
  kind: 'checkin',
  entries: points.map(pack),
  duplicateKey: `t${points[0]!.sentMs}`,
  recordedMs: points[0]!.recordedMs,
  position: { t: points[0]!.recordedMs, lat: points[0]!.lat, lng: points[0]!.lng },
})

/** Writes check-ins to the journal of a process that no longer runs. */
export async function leaveJournal(
  installation: Installation,
  submissions: readonly Submission[],
): Promise<void> {
  const journal = openJournal(journalsOf(installation), 1_000)
  await Promise.all(submissions.map((one) => journal.append(one)))
  journal.close()
}

export const OPERATOR = { role: 'owner', level: 3, name: 'ana', fingerprint: 'f00d', requestId: 'r' } as const

/**
 * Stores pilgrims with data of every kind: stored, pending, journaled and erased points, texts, pictures and
 * messages.
 */
export async function fill({ installation, harness }: Opened): Promise<void> {
  const { db, objects } = installation
  const random = createRandom(7)
  for (let i = 0; i < 6; i++) {
    const points = jumbled(random, wander(random, 150, NOON - 3 * 86_400_000, 3), 40)
    await harness.buffer(`walker-${i}`, points.slice(0, 120))
    if (i % 2 === 0) await harness.flush()
    await harness.buffer(`walker-${i}`, points.slice(120))
  }
  await harness.buffer('gone', walk(30))
  await harness.buffer('back-again', walk(30))
  await harness.flush()
  await db.sql.unsafe(WORDS)
  for (const [key, text] of Object.entries(OBJECTS))
    await objects.put(key, new Uint8Array(Buffer.from(text)), { contentType: 'image/png' })
  await db.sql`UPDATE share_cards SET etag = ${(await objects.head('cards/walker-0.png'))!.etag}`
  for (const userId of ['gone', 'back-again'])
    await eraseUser({ ...installation, calendar: harness.calendar } as ServiceContext, OPERATOR, userId)
  const anew = (await db.transaction((tx) => beginAnew(tx, 'back-again', harness.nowMs + 60_000)))!
  await harness.kv.storeErasures([anew])
  // Pending points with and without the stamp of a generation; in a journal, in the buffer, in both, and in the
  // database.
  harness.nowMs += 3_600_000
  const later = walk(20, harness.nowMs, { receivedMs: harness.nowMs })
  for (const userId of ['back-again', 'walker-1']) await harness.buffer(userId, later)
  for (const userId of ['walker-0', 'walker-3', 'walker-4']) {
    const { position, ...submission } = journaled(userId, later)
    const place = { ...position!, rough: userId === 'walker-4' }
    await harness.kv.restore(0, [{ ...submission, position: place, entries: [] }], rules())
  }
  const only = point({ kind: 'c', sentMs: harness.nowMs + 1, receivedMs: harness.nowMs })
  await leaveJournal(installation, [
    journaled('walker-2', [only]),
    journaled('walker-1', later.slice(0, 1)),
    journaled('only-journaled', [only]),
    journaled('gone', walk(1, NOON, { kind: 'c', receivedMs: NOON })),
  ])
}

const OBJECTS = {
  'cards/walker-0.png': 'a card',
  'cards/U:w.alker@1.png': 'a card of a name with all characters',
  [`screenshots/${'ab'.repeat(16)}.png`]: 'a screenshot \0\u00ff',
  'webhooks/event-1': '{"spooled":true}',
}

const WORDS = `
  UPDATE pilgrims SET display_name = E'雨 "quoted" \\\\ back\\nline \u{1f6b6}', phone = '+886912345678', survey_completed_at = now(),
    consumption = '{"water": 2.5, "b": 1e300}', transport = '{}', consent_withdrawn = true WHERE user_id = 'walker-0';
  INSERT INTO surveys VALUES ('walker-0', '{"q1": ["a,b", "{}", null], "q2": 0.1}', 2, '2026-04-12T00:00:00.123Z');
  INSERT INTO survey_history (user_id, answers, revision, submitted_at) VALUES ('walker-0', '{}', 1, now());
  INSERT INTO consents (user_id, agreed, version, at) VALUES ('walker-0', true, NULL, now());
  INSERT INTO feedback (user_id, category, description, status, screenshot_url, created_at, updated_at)
    VALUES ('walker-0', 'bug', '=1+1', 'new', '/api/event/feedback-image/${'ab'.repeat(16)}.png', now(), now());
  INSERT INTO share_cards VALUES ('walker-0', 'fp', 'etag', true, 120, now(), NULL);
  INSERT INTO role_assignments VALUES ('walker-1', 'volunteer', 'ana', now());
  INSERT INTO followers VALUES ('walker-1', true, now(), NULL);
  INSERT INTO messages VALUES (gen_random_uuid(), 'push', 'k', '{"user_ids": ["walker-1"]}', false, 'sent', 1, '{}', NULL, now(), now());
  INSERT INTO message_chunks (message_id, state, recipients, size, body, retry_key, due_at)
    VALUES (gen_random_uuid(), 'sent', '["walker-1"]', 1, '[{"type": "text"}]', gen_random_uuid(), now());
  INSERT INTO outbox (subject, payload, created_at) VALUES ('s', '{}', now()), ('s', '{}', now());
  DELETE FROM outbox WHERE id = (SELECT max(id) FROM outbox);
  UPDATE activity SET status = 'paused', version = 5, message = 'rest', changed_at = now();`

/** Everything that is stored, sorted, except the ledger, because a restored kv starts new counters in it. */
export async function contents({ installation, harness }: Opened) {
  const { db, kv, objects } = installation
  const tables: Record<string, string[]> = {}
  for (const table of TABLES.filter((name) => !name.startsWith('ledger_'))) {
    const rows = await db.sql.unsafe<{ row: string }[]>(
      `SELECT row_to_json(t)::text AS row FROM ${table} t ORDER BY row_to_json(t)::text COLLATE "C"`,
    )
    const kept = rows.map(({ row }) => row.replaceAll('+00:00"', 'Z"'))
    tables[table] = table === 'audit_log' ? kept.filter((row) => !row.includes('"action":"restore"')) : kept
  }
  const stored: Record<string, string> = {}
  for await (const key of objects.list('')) {
    const { bytes, contentType } = (await objects.get(key))!
    stored[key] = `${contentType} ${Buffer.from(bytes).toString('base64')}`
  }
  const live = await Promise.all(Array.from({ length: kv.partitions }, (_, p) => kv.moved(p, 0, 1_000)))
  const places = live
    .flat()
    .map(({ userId, t, lat, lng, rough = false }) => ({ userId, t, lat, lng, rough }))
    .sort((a, b) => (a.userId < b.userId ? -1 : 1))
  return { tables, stored, live: places, pending: await harness.pending() }
}

/** @param see receives each line @returns the file's path */
export async function backUp(
  { installation, dir }: Opened,
  see: (line: string) => void = () => undefined,
): Promise<string> {
  const path = join(dir, `${crypto.randomUUID()}.jsonl.zst`)
  await writeArchive(path, (write) =>
    takeBackup(installation, (line) => {
      see(line)
      return write(line)
    }),
  )
  return path
}

/**
 * Up to which moment the continuous archive of Postgres (services/archive.yml) can restore the database. Postgres says
 * which segments of its log are archived, and `services/archive/base-backups.sh` notes its latest base backup as the
 * comment of the database.
 */
import type { ServiceContext } from '#shared/service/context.ts'
import type { KvKeys } from '#shared/stores/kv/kv.ts'

const KEY = 'continuous-archive'
const KEPT_MS = 86_400_000
/** A segment is archived after a minute at most (archive_timeout). */
export const LATE_MS = 900_000

/** Times are epoch milliseconds by the clock of Postgres. */
export interface ContinuousArchive {
  /** Since when the archive is watched. */
  readonly sinceMs: number
  /** Everything committed before can be restored; null: nothing yet. */
  readonly restorableMs: number | null
  /** The segment that was written at a later moment: once it is archived, that moment can be restored. */
  readonly next: { readonly segment: string; readonly atMs: number } | null
}

/** Null: there is no archive, or no scheduler has looked at it within a day. @throws KvUnavailable */
export async function readArchive(kv: KvKeys): Promise<ContinuousArchive | null> {
  const stored = await kv.cached(KEY)
  return stored === null ? null : (JSON.parse(stored) as ContinuousArchive)
}

/** When the owner is alerted (epoch ms), because the archive is behind or has no base backup. */
export const archiveDueMs = ({ restorableMs, sinceMs }: ContinuousArchive): number =>
  (restorableMs ?? sinceMs) + LATE_MS

/** Records how far the archive has come. @throws KvUnavailable; when the database is unavailable */
export async function followArchive({ db, kv }: Pick<ServiceContext, 'db' | 'kv'>): Promise<void> {
  const [seen] = await db.sql<
    [{ archives: boolean; archived: string | null; has_base: boolean | null; ms: number }]
  >`
    SELECT current_setting('archive_mode') <> 'off' AND current_setting('archive_command') LIKE 'pgbackrest %' AS archives,
           last_archived_wal AS archived, epoch_ms(now()) AS ms,
           shobj_description(oid, 'pg_database') LIKE 'base backup %' AS has_base
    FROM pg_stat_archiver, pg_database WHERE datname = current_database()`
  if (!seen.archives) return kv.forget(KEY)
  let { sinceMs, restorableMs, next } = (await readArchive(kv)) ?? {
    sinceMs: seen.ms,
    restorableMs: null,
    next: null,
  }
  const hasBase = seen.has_base === true
  if (!hasBase) restorableMs = next = null
  if (next !== null && seen.archived !== null && seen.archived >= next.segment) {
    restorableMs = next.atMs
    next = null
  }
  if (next === null && hasBase) {
    // A log without a change would never be archived.
    await db.sql`SELECT pg_logical_emit_message(true, 'archive', '')`
    const [{ segment }] = await db.sql<[{ segment: string }]>`
      SELECT pg_walfile_name(pg_current_wal_insert_lsn()) AS segment`
    next = { segment, atMs: seen.ms }
  }
  await kv.cache(KEY, JSON.stringify({ sinceMs, restorableMs, next } satisfies ContinuousArchive), KEPT_MS)
}

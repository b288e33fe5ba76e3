/** All pilgrims with their statistics, a page at a time. */
import { z } from 'zod'
import type { ServiceContext } from '#shared/context.ts'
import { ParticipantStatus, Role, time } from '#shared/contracts/fields.ts'
import type { UserRow, UsersQuery, UserSort } from '#shared/contracts/reports.ts'
import { readStatistics } from '#shared/fold/statistics.ts'
import { partitionOf } from '#shared/kv/kv.ts'
import { decodeCursor, encodeCursor, pageOf } from '#shared/paging.ts'
import { levelOf } from '#shared/rules/levels.ts'
import { consumptionMg, transportSums } from '#shared/rules/reported-carbon.ts'
import { shownKg, shownKm } from '#shared/rules/shown.ts'

interface Row {
  user_id: string
  display_name: string | null
  participant_status: string
  surveyed: boolean
  consumption: string
  transport: string
  role: string | null
  checkins: number
  mm: number
  mg: number
  last_ms: number | null
  sort_key: string
}

/** What each order sorts by; a pilgrim without points counts as zero, and as seen at the beginning of time. */
const SORT_KEYS: Record<UserSort, string> = {
  userId: 'p.user_id',
  km: 'coalesce(t.distance_mm, 0)',
  checkins: 'coalesce(t.checkins, 0)',
  last_seen: "coalesce(t.last_seen, 'epoch')",
}
const KEY_TYPES: Record<UserSort, string> = {
  userId: 'text',
  km: 'bigint',
  checkins: 'int',
  last_seen: 'timestamptz',
}
const Position = z.tuple([z.string().max(200), z.string().max(128)])

/** A page of pilgrims; those on it are shown with their points in the buffer. */
export async function listUsers(context: ServiceContext, query: UsersQuery) {
  const { sort, order = sort === 'userId' ? 'asc' : 'desc', limit, cursor, search } = query
  const list = `users:${sort}:${order}`
  const after = cursor === undefined ? null : decodeCursor(list, cursor, Position)
  const rows = await readRows(context, { sort, order, limit, search: search ?? null, after })
  const { items, next_cursor } = pageOf(rows, limit, shown, (row) =>
    encodeCursor(list, [row.sort_key, row.user_id]),
  )
  return {
    items: await withPending(context, items, new Map(rows.map((row) => [row.user_id, row]))),
    next_cursor,
  }
}

interface Page {
  readonly sort: UserSort
  readonly order: 'asc' | 'desc'
  readonly limit: number
  readonly search: string | null
  readonly after: readonly [key: string, userId: string] | null
}

/** The order and its key come from the tables above; everything a client sends is a parameter. */
async function readRows({ db }: ServiceContext, { sort, order, limit, search, after }: Page): Promise<Row[]> {
  const key = SORT_KEYS[sort]
  const type = KEY_TYPES[sort]
  const beyond = order === 'asc' ? '>' : '<'
  return db.read(() =>
    db.sql.unsafe<Row[]>(
      `SELECT p.user_id, p.display_name, p.participant_status, p.survey_completed_at IS NOT NULL AS surveyed,
              p.consumption::text AS consumption, p.transport::text AS transport, r.role,
              coalesce(t.checkins, 0) AS checkins, coalesce(t.distance_mm, 0)::float8 AS mm,
              coalesce(t.carbon_mg, 0)::float8 AS mg, (extract(epoch FROM t.last_seen) * 1000)::float8 AS last_ms,
              (${key})::text AS sort_key
       FROM pilgrims p
       LEFT JOIN pilgrim_totals t ON t.user_id = p.user_id
       LEFT JOIN role_assignments r ON r.user_id = p.user_id
       WHERE ($1::text IS NULL OR strpos(lower(p.user_id), lower($1)) > 0 OR strpos(lower(p.display_name), lower($1)) > 0)
         AND ($2::text IS NULL OR (${key}, p.user_id) ${beyond} ($2::${type}, $3::text))
       ORDER BY ${key} ${order}, p.user_id ${order}
       LIMIT $4::int`,
      [search, after?.[0] ?? null, after?.[1] ?? null, limit + 1],
    ),
  )
}

function shown(row: Row): UserRow {
  const reported = transportSums(JSON.parse(row.transport))
  return {
    userId: row.user_id,
    display_name: row.display_name,
    km: shownKm(row.mm),
    checkins: row.checkins,
    level: levelOf(row.mm, row.checkins).level,
    carbon_kg: shownKg(row.mg + reported.carbonMg + consumptionMg(JSON.parse(row.consumption))),
    role: row.role === null ? null : Role.parse(row.role),
    participant_status: ParticipantStatus.parse(row.participant_status),
    survey_completed: row.surveyed ? 1 : 0,
    last_seen: row.last_ms === null ? null : time(row.last_ms),
  }
}

/** Folds in what waits in the buffer, for those on the page who have something there. */
async function withPending(
  context: ServiceContext,
  items: readonly UserRow[],
  rows: ReadonlyMap<string, Row>,
): Promise<UserRow[]> {
  const { kv } = context
  const byPartition = Map.groupBy(items, ({ userId }) => partitionOf(userId, kv.partitions))
  const pending = new Set<string>()
  for (const [partition, users] of byPartition)
    for (const { userId, entries } of await kv.drain(
      partition,
      users.map(({ userId: id }) => id),
    ))
      if (entries.length > 0) pending.add(userId)
  return Promise.all(
    items.map(async (item) => {
      if (!pending.has(item.userId)) return item
      const statistics = await readStatistics(context, item.userId)
      if (statistics === null) return item
      const { distanceMm, carbonMg, checkins, lastMs } = statistics
      return shown({ ...rows.get(item.userId)!, mm: distanceMm, mg: carbonMg, checkins, last_ms: lastMs })
    }),
  )
}

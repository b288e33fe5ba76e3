/** The paged list of all pilgrims with their statistics. */
import { z } from 'zod'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { ParticipantStatus, Role, Time, time, UserId } from '#shared/contracts/fields.ts'
import { MAX_ORDERED, type UserRow, type UsersQuery, type UserSort } from '#shared/contracts/reports.ts'
import { seenAt } from '#shared/contracts/first-and-last-seen.ts'
import { peekWithTimeout, pendingUsersWithTimeout } from '#shared/buffer/read-pending-points.ts'
import { foldPending, type Pilgrim } from '#shared/fold/pilgrim-statistics.ts'
import { decodeCursor, encodeCursor, pageOf } from '#shared/http/pagination.ts'
import { levelOf } from '#shared/rules/levels.ts'
import { consumptionMg, transportSums } from '#shared/rules/reported-carbon.ts'
import { roundKg, roundKm } from '#shared/rules/rounding.ts'
import { readRows, type Row, SORTINGS } from './select-users.ts'

const HOUR_MS = 3_600_000

/** A row with its number of pending points; null: not known. */
type RowWithPending = Row & { readonly pending: number | null }

/** Format of the sort key in a cursor. The database would refuse anything else. */
const KEYS: Record<UserSort, z.ZodType<string>> = {
  userId: UserId,
  km: z.string().regex(/^\d{1,18}$/),
  checkins: z.string().regex(/^\d{1,9}$/),
  last_seen: Time,
}

/**
 * A page of pilgrims, whose statistics include their pending points. The order includes them as well while at most
 * {@link MAX_ORDERED} pilgrims have any.
 */
export async function listUsers(context: ServiceContext, query: UsersQuery) {
  const {
    sort,
    order = sort === 'userId' ? 'asc' : 'desc',
    limit,
    cursor,
    search,
    silent_hours: hours,
    with_links: withLinks,
  } = query
  const list = `users:${sort}:${order}`
  const after = cursor === undefined ? null : decodeCursor(list, cursor, z.tuple([KEYS[sort], UserId]))
  // The buffer is read before the database, so that a pilgrim is in at least one of them in spite of a flush.
  const waiting = await pendingUsersWithTimeout(context.kv)
  const ordered = await orderedByShown(context, sort, waiting)
  const rows = await readRows(context, {
    sort,
    order,
    limit: limit + 1,
    search: search ?? null,
    after,
    seenBefore: hours === undefined ? null : time(context.now() - hours * HOUR_MS),
    linkedAt: withLinks === undefined ? null : time(context.now()),
    waiting: (waiting ?? []).map((userId) => ({
      user_id: userId,
      key: ordered?.keys.get(userId) ?? null,
    })),
  })
  const keyOf = (row: Row): string =>
    ordered?.keys.get(row.user_id) ?? (sort === 'last_seen' ? time(row.last_ms ?? 0) : row.sort_key)
  const { items, next_cursor } = pageOf(
    rows,
    limit,
    (row) => row,
    (row) => encodeCursor(list, [keyOf(row), row.user_id]),
  )
  const found = await withPending(context, items, waiting && new Set(waiting), ordered?.pilgrims ?? null)
  const pending = found.reduce<number | null>(
    (sum, row) => (sum === null || row.pending === null ? null : sum + row.pending),
    waiting === null ? null : 0,
  )
  return { items: found.map(shown), next_cursor, pending }
}

function shown(row: RowWithPending): UserRow {
  const reported = transportSums(JSON.parse(row.transport))
  return {
    userId: row.user_id,
    display_name: row.display_name,
    km: roundKm(row.mm),
    checkins: row.checkins,
    level: levelOf(row.mm, row.checkins).level,
    carbon_kg: roundKg(row.mg + reported.carbonMg + consumptionMg(JSON.parse(row.consumption))),
    role: row.role === null ? null : Role.parse(row.role),
    participant_status: ParticipantStatus.parse(row.participant_status),
    survey_completed: row.surveyed ? 1 : 0,
    last_seen: seenAt(row.last_ms),
    pending: row.pending,
  }
}

/**
 * The figures of pilgrims with pending points, to order by; null: by the stored ones, because nothing else is asked
 * for, because they are too many, or because the buffer is unavailable.
 */
async function orderedByShown(context: ServiceContext, sort: UserSort, waiting: readonly string[] | null) {
  const { keyOf } = SORTINGS[sort]
  if (keyOf === undefined || waiting === null || waiting.length > MAX_ORDERED) return null
  const held = waiting.length === 0 ? null : await peekWithTimeout(context.kv, waiting)
  if (held === null) return null
  const pilgrims = await foldPending(
    context,
    waiting.map((userId, i) => ({ userId, entries: held[i]! })),
  )
  const keys = new Map<string, string>()
  for (const [userId, { statistics }] of pilgrims) if (statistics) keys.set(userId, keyOf(statistics))
  return { pilgrims, keys }
}

/**
 * Folds pending points into the rows of the page whose pilgrims had any before the rows were read. Points that a flush
 * has stored since then are read again.
 * @param waiting pilgrims with pending points; null: the buffer is unavailable
 * @param folded those pilgrims, if they have been folded already
 */
async function withPending(
  context: ServiceContext,
  rows: readonly Row[],
  waiting: ReadonlySet<string> | null,
  folded: ReadonlyMap<string, Pilgrim> | null,
): Promise<RowWithPending[]> {
  if (folded !== null) return rows.map((row) => withFigures(row, folded.get(row.user_id)))
  const userIds = rows.map(({ user_id }) => user_id).filter((userId) => waiting?.has(userId))
  const held =
    waiting === null ? null : userIds.length === 0 ? [] : await peekWithTimeout(context.kv, userIds)
  if (held === null) return rows.map((row) => ({ ...row, pending: null }))
  const pending = userIds.map((userId, i) => ({ userId, entries: held[i]! }))
  const known = userIds.length === 0 ? new Map<string, Pilgrim>() : await foldPending(context, pending)
  return rows.map((row) => withFigures(row, known.get(row.user_id)))
}

function withFigures(row: Row, pilgrim: Pilgrim | undefined): RowWithPending {
  if (!pilgrim?.statistics) return { ...row, pending: 0 }
  const { distanceMm, carbonMg, checkins, lastMs } = pilgrim.statistics
  return { ...row, mm: distanceMm, mg: carbonMg, checkins, last_ms: lastMs, pending: pilgrim.pending }
}

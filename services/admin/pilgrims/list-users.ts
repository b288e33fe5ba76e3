/** The paged list of all pilgrims with their statistics. */
import { z } from 'zod'
import type { ServiceContext } from '#shared/service/context.ts'
import { APP_ID, ParticipantStatus, Role, Time, time, UserId, timeOrNull } from '#shared/contracts/fields.ts'
import { MAX_ORDERED, type UserRow, type UsersQuery, type UserSort } from '#shared/contracts/reports.ts'
import { pendingUsersWithTimeout } from '#shared/points/pending-points.ts'
import {
  type Pilgrim,
  readPilgrimsIfBuffered,
  type Statistics,
} from '#shared/points/totals/pilgrim-statistics.ts'
import { decodeCursor, readPage } from '#shared/service/http/pagination.ts'
import type { Operator } from '#shared/service/security/admin-auth.ts'
import type { IdOrder } from '#shared/service/security/pseudonyms.ts'
import { levelOf } from '#shared/core/rules/levels.ts'
import { consumptionMg, transportSums } from '#shared/core/rules/carbon.ts'
import { roundKg, roundKm } from '#shared/core/rules/rounding.ts'
import { silentBetween } from '#shared/core/rules/silence.ts'

/** Format of the sort key in a cursor. The database would reject anything else. */
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
export async function listUsers(context: ServiceContext, query: UsersQuery, operator: Operator | null) {
  const {
    sort,
    order = sort === 'userId' ? 'asc' : 'desc',
    search,
    silent_hours: hours,
    with_links: withLinks,
  } = query
  const [list, position] = [`users:${sort}:${order}`, [KEYS[sort], UserId]] as const
  // A forged cursor is rejected before any points are read.
  decodeCursor(list, position, query.cursor)
  // The buffer is read before the database, so that a pilgrim is in at least one of them even during a flush.
  const waiting = await pendingUsersWithTimeout(context.kv)
  const { keyOf } = SORTINGS[sort]
  // Null: ordered by the stored figures, because pending ones do not matter, too many pilgrims have some, or the buffer
  // is down.
  const ordered =
    keyOf === undefined || waiting === null || waiting.length > MAX_ORDERED
      ? null
      : await readPilgrimsIfBuffered(context, waiting)
  const shownKey = (userId: string): string | null => {
    const statistics = ordered?.get(userId)?.statistics
    return statistics ? keyOf!(statistics) : null
  }
  const page: Omit<Page, 'after' | 'limit'> = {
    sort,
    order,
    ids: context.pseudonyms.orderFor(operator),
    search: search ?? null,
    hidesIds: context.pseudonyms.hidesFrom(operator),
    silent: hours === undefined ? null : silentBetween(hours, context.now()),
    linkedAt: withLinks === undefined ? null : time(context.now()),
    waiting: (waiting ?? []).map((userId) => ({ user_id: userId, key: shownKey(userId) })),
  }
  const { items, next_cursor } = await readPage(
    list,
    position,
    query,
    (after, limit) => readRows(context, { ...page, after, limit }),
    (row) => row,
    ({ user_id: userId, last_ms, sort_key }) => [
      sort === 'userId'
        ? userId
        : (shownKey(userId) ?? (sort === 'last_seen' ? time(last_ms ?? 0) : sort_key)),
      userId,
    ],
  )
  const among = waiting && new Set(waiting)
  const userIds = items.map((row) => row.user_id).filter((userId) => among?.has(userId))
  const folded = ordered ?? (waiting && (await readPilgrimsIfBuffered(context, userIds)))
  const found = items.map((row) => shown(row, folded))
  const pending = folded && found.reduce((sum, row) => sum + row.pending!, 0)
  return { items: found, next_cursor, pending }
}

/**
 * A row with the pending points of pilgrims who had any before the rows were read. Points that a flush has stored since
 * then are read again.
 * @param folded pilgrims with pending points; null: the buffer is unavailable
 */
function shown(row: Row, folded: ReadonlyMap<string, Pilgrim> | null): UserRow {
  const pilgrim = folded?.get(row.user_id)
  const {
    distanceMm: mm,
    carbonMg: mg,
    checkins,
    lastMs,
  } = pilgrim?.statistics ?? {
    distanceMm: row.mm,
    carbonMg: row.mg,
    checkins: row.checkins,
    lastMs: row.last_ms,
  }
  const reported = transportSums(JSON.parse(row.transport))
  return {
    userId: row.user_id,
    display_name: row.display_name,
    km: roundKm(mm),
    checkins,
    level: levelOf(mm, checkins).level,
    carbon_kg: roundKg(mg + reported.carbonMg + consumptionMg(JSON.parse(row.consumption))),
    role: row.role === null ? null : Role.parse(row.role),
    participant_status: ParticipantStatus.parse(row.participant_status),
    survey_completed: row.surveyed ? 1 : 0,
    last_seen: timeOrNull(lastMs),
    pending: folded && (pilgrim?.statistics ? pilgrim.pending : 0),
  }
}

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

interface Sorting {
  /** Column of the totals; null: sorted by id alone. */
  readonly column: string | null
  readonly type: string
  /** SQL value for a pilgrim without points. */
  readonly nothing: string
  /** The figure as the cursor stores it. */
  readonly keyOf?: (statistics: Statistics) => string
}

const SORTINGS: Record<UserSort, Sorting> = {
  userId: { column: null, type: 'text', nothing: "''" },
  km: { column: 'distance_mm', type: 'bigint', nothing: '0', keyOf: ({ distanceMm }) => `${distanceMm}` },
  checkins: { column: 'checkins', type: 'int', nothing: '0', keyOf: ({ checkins }) => `${checkins}` },
  last_seen: {
    column: 'last_seen',
    type: 'timestamptz',
    nothing: "'epoch'",
    keyOf: ({ lastMs }) => time(lastMs ?? 0),
  },
}

interface Page {
  readonly sort: UserSort
  readonly order: 'asc' | 'desc'
  readonly ids: IdOrder
  readonly limit: number
  readonly search: string | null
  /** The search matches ids made by the app as a whole only: parts would reveal the id. */
  readonly hidesIds: boolean
  /** Only participants last seen between these times. */
  readonly silent: ReturnType<typeof silentBetween> | null
  /** Only pilgrims with a tracker, or with a link valid at this time; null: everyone. */
  readonly linkedAt: string | null
  readonly after: readonly [key: string, userId: string] | null
  /** Pilgrims with pending points. Some may be known only from the buffer. */
  readonly waiting: readonly {
    readonly user_id: string
    /** The figure with the pending points; null: the stored one is used. */
    readonly key: string | null
  }[]
}

/**
 * A page of rows. Sorted by a figure, pilgrims who have it are read from the totals alone, which are small. The others,
 * whose keys are all equal, are read only when the page reaches them.
 */
async function readRows(context: ServiceContext, page: Page): Promise<Row[]> {
  const { column } = SORTINGS[page.sort]
  if (page.silent !== null) return readChosen(context, page, 'silent')
  if (column === null || page.search !== null || page.linkedAt !== null)
    return readChosen(context, page, 'everybody')
  const [first, second] = page.order === 'desc' ? (['some', 'none'] as const) : (['none', 'some'] as const)
  const rows = await readChosen(context, page, first)
  if (rows.length === page.limit) return rows
  return [...rows, ...(await readChosen(context, { ...page, limit: page.limit - rows.length }, second))]
}

/** All pilgrims, those with or without the figure of the order, or silent participants. */
type Who = 'everybody' | 'some' | 'none' | 'silent'

const FROM: Record<Who, string> = {
  everybody: 'pilgrims p LEFT JOIN pilgrim_totals t ON t.user_id = p.user_id',
  some: 'pilgrim_totals t',
  none: 'pilgrims p LEFT JOIN pilgrim_totals t ON t.user_id = p.user_id',
  silent: 'pilgrim_totals t JOIN pilgrims p ON p.user_id = t.user_id',
}

const linked = (userId: string, at: string): string => `${userId} IN (
    SELECT user_id FROM trackers UNION ALL SELECT user_id FROM shares WHERE expires_at > ${at}::timestamptz)`

/** SQL: whether the id was not made by an app, $4 contains the whole id, or the name matches $4. */
const isFoundWhole = (userId: string, name: string): string =>
  `(${userId} !~ '${APP_ID.source}' OR strpos(lower($4), ${userId}) > 0 OR lower(coalesce(${name}, '')) LIKE lower($4))`

/**
 * The SQL of a page. Input from clients is passed as parameters; everything else comes from constants.
 * @param parameter passes a value, and returns its name in the SQL
 */
function chosen({ sort, order, ids, ...page }: Page, who: Who, parameter: (value: string) => string): string {
  const { column, type, nothing } = SORTINGS[sort]
  const beyond = order === 'asc' ? '>' : '<'
  const hasFigure = who === 'some' || who === 'silent'
  const figure = hasFigure
    ? `t.${column!}`
    : column === null
      ? ids.sql('p.user_id')
      : `coalesce(t.${column}, ${nothing})`
  const id = hasFigure ? 't.user_id' : 'p.user_id'
  const [since, before] =
    page.silent === null ? [] : [page.silent.sinceMs, page.silent.beforeMs].map((ms) => parameter(time(ms)))
  const at = page.linkedAt === null ? null : parameter(page.linkedAt)
  const which = (shown: string, status: string, userId: string): string =>
    ({
      everybody: 'true',
      some: `${shown} > ${nothing}`,
      none: `${shown} = ${nothing}`,
      silent: `${shown} > ${since!}::timestamptz AND ${shown} < ${before!}::timestamptz AND ${status} = 'active'`,
    })[who] + (at === null ? '' : ` AND ${linked(userId, at)}`)
  const found = (row: string, userId: string): string =>
    `${row}.searchable LIKE lower($4)${page.hidesIds ? ` AND ${isFoundWhole(userId, `${row}.display_name`)}` : ''}`
  const key = column === null ? ids.sql('w.user_id') : `coalesce(w.key::${type}, ${nothing}::${type})`
  const stored = `SELECT ${id} AS user_id, ${figure} AS key, false AS fresh FROM ${FROM[who]}
    WHERE ${which(figure, 'p.participant_status', id)}
      AND ($4::text IS NULL ${who === 'everybody' || who === 'silent' ? `OR ${found('p', id)}` : ''})
      AND ($1::text IS NULL OR (${figure}, ${ids.sql(id)}) ${beyond} ($1::${type}, $2::text))
      AND ${id} NOT IN (SELECT w.user_id FROM waiting w WHERE w.key IS NOT NULL)
    ORDER BY ${figure} ${order}, ${ids.sql(id)} ${order} LIMIT $3::int`
  return `SELECT * FROM ((${stored}) UNION ALL (
      SELECT w.user_id, ${key}, true FROM waiting w LEFT JOIN pilgrims k ON k.user_id = w.user_id
      WHERE (w.key IS NOT NULL OR k.user_id IS NULL) AND ${which(key, "coalesce(k.participant_status, 'active')", 'w.user_id')}
        AND ($4::text IS NULL OR ${found('k', 'w.user_id')} OR k.user_id IS NULL AND lower(w.user_id) LIKE lower($4)
          ${page.hidesIds ? `AND ${isFoundWhole('w.user_id', 'NULL')}` : ''})
        AND ($1::text IS NULL OR (${key}, ${ids.sql('w.user_id')}) ${beyond} ($1::${type}, $2::text)))) either
    ORDER BY key ${order}, ${ids.sql('user_id')} ${order} LIMIT $3::int`
}

function readChosen({ db }: ServiceContext, page: Page, who: Who): Promise<Row[]> {
  const { sort, order, ids, limit, search, after, waiting } = page
  const [key, userId] = after ?? [null, null]
  const values = [
    sort === 'userId' ? userId && ids.of(userId) : key,
    userId && ids.of(userId),
    limit,
    pattern(search),
    JSON.stringify(waiting),
  ]
  const rows = chosen(page, who, (value) => `$${values.push(value)}`)
  return db.read(() =>
    db.sql.unsafe<Row[]>(
      `WITH waiting AS MATERIALIZED (
         SELECT * FROM jsonb_to_recordset($5::text::jsonb) AS w (user_id text, key text))
       SELECT c.user_id, p.display_name, coalesce(p.participant_status, 'active') AS participant_status,
              p.survey_completed_at IS NOT NULL AS surveyed, coalesce(p.consumption::text, '{}') AS consumption,
              coalesce(p.transport::text, '{}') AS transport, r.role,
              coalesce(t.checkins, 0) AS checkins, coalesce(t.distance_mm, 0)::float8 AS mm,
              coalesce(t.carbon_mg, 0)::float8 AS mg, epoch_ms(t.last_seen) AS last_ms,
              c.key::text AS sort_key
       FROM (${rows}) c
       LEFT JOIN pilgrims p ON p.user_id = c.user_id
       LEFT JOIN pilgrim_totals t ON t.user_id = c.user_id
       LEFT JOIN role_assignments r ON r.user_id = c.user_id
       WHERE c.fresh OR p.user_id IS NOT NULL
       ORDER BY c.key ${order}, ${ids.sql('c.user_id')} ${order}`,
      values,
    ),
  )
}

const pattern = (search: string | null): string | null =>
  search === null ? null : `%${search.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`

/** Selects the recipients of a message, and counts the people left out. */
import { inArray, type SQL, sql } from 'drizzle-orm'
import type { Language } from '#shared/contracts/bot.ts'
import type { Audience, ExcludedRecipients, Recipients, LeftOutReason } from '#shared/contracts/messages.ts'
import type { Point } from '#shared/points/point.ts'
import { isLineUserId } from '#shared/service/line/line-client.ts'
import type { Tx } from '#shared/stores/db/db.ts'
import { withoutErased } from '#shared/pilgrims/person-lock.ts'
import type { Event } from '#shared/pilgrims/event-settings.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { pendingUsersWithTimeout, readPending } from '#shared/points/pending-points.ts'
import type { KvPoints } from '#shared/stores/kv/kv.ts'
import { roleAssignments } from '#shared/stores/schema/tables.ts'

const HOUR_MS = 3_600_000

interface Row extends Record<string, unknown> {
  user_id: string
  language: string | null
  withdrawn: boolean
  reachable: boolean
  /** Has pending points. */
  waits: boolean
  /** Has no row in `pilgrims`. */
  unstored: boolean
  /** Belongs to the audience according to the tables. */
  fits: boolean
}

export interface LeftOut {
  readonly userId: string
  readonly reason: LeftOutReason
  /** Withdrawn people get no Web Push either. */
  readonly withdrawn: boolean
}

export interface Selected {
  readonly byLanguage: ReadonlyMap<Language, readonly string[]>
  readonly count: number
  /** Everyone who has not withdrawn, with or without LINE: their devices get it by Web Push. */
  readonly everybody: ReadonlyMap<Language, readonly string[]>
  readonly leftOut: ExcludedRecipients
  /** The buffer affects the recipients and was unavailable: the selection uses the tables alone. */
  readonly lacksBuffer: boolean
}

export const NOBODY: Selected = {
  byLanguage: new Map(),
  count: 0,
  everybody: new Map(),
  leftOut: { unreachable: 0, withdrawn: 0, no_line_id: 0 },
  lacksBuffer: false,
}

const IS_PARTICIPANT = sql`(r.role IS NULL OR coalesce(t.checkins, 0) > 0)`

const withRole = (role: string): SQL => sql`r.role = ${role}`

function conditionOf(audience: Audience, sinceMs: number): SQL {
  switch (audience) {
    case 'all':
      return sql`true`
    case 'participants':
      return IS_PARTICIPANT
    case 'volunteers':
      return withRole('volunteer')
    case 'managers':
      return withRole('manager')
    case 'owners':
      return withRole('owner')
    case 'completed':
      return sql`p.participant_status = 'completed'`
    case 'inactive': {
      const since = new Date(sinceMs).toISOString()
      return sql`${IS_PARTICIPANT} AND p.participant_status <> 'completed'
        AND coalesce(t.last_seen, p.created_at) < ${since}::timestamptz`
    }
  }
}

/** Audiences that depend on pending points. The others are known from the tables alone. */
const BY_BUFFER: ReadonlySet<Audience> = new Set(['all', 'participants', 'inactive'])

/** Everyone known, and whether they have pending points. Some people are known only in the buffer. */
const everybody = (waiting: readonly string[]): SQL => sql`(
  SELECT user_id, bool_or(waits) AS waits FROM (
    SELECT user_id, false AS waits FROM pilgrims UNION ALL SELECT user_id, false FROM followers
    UNION ALL SELECT value, true FROM jsonb_array_elements_text(${JSON.stringify(waiting)}::text::jsonb)
  ) each GROUP BY user_id)`

/**
 * Selects the current recipients, each once.
 * @param buffer read before this transaction
 */
export async function selectRecipients(
  tx: Tx,
  { event, now }: Pick<ServiceContext, 'event' | 'now'>,
  wanted: Recipients,
  buffer: RecipientBuffer,
): Promise<Selected> {
  const { rows, lacksBuffer } = await selectAudience(tx, wanted, now(), buffer)
  return { ...sorted(rows, event.current), lacksBuffer }
}

/**
 * Selects owners, managers and `EVENT_ALERT_USER_ID`, including those who have withdrawn from the walk, because they
 * work for the event.
 */
export async function selectStaff(
  tx: Tx,
  { config, event, now }: Pick<ServiceContext, 'config' | 'event' | 'now'>,
): Promise<Selected> {
  const { userId, role } = roleAssignments
  const assigned = await tx.orm
    .select({ userId })
    .from(roleAssignments)
    .where(inArray(role, ['owner', 'manager']))
  const ids = new Set(assigned.map((row) => row.userId))
  if (config.alertUserId !== '') ids.add(config.alertUserId)
  const { rows } = await selectAudience(tx, { user_ids: [...ids] }, now(), NO_BUFFER)
  const working = rows.map((row) => ({ ...row, withdrawn: false }))
  return { ...sorted(working, event.current), lacksBuffer: false }
}

/**
 * Selects the people of an audience who are currently left out, each once.
 * @param buffer read before this transaction
 */
export async function selectLeftOut(
  tx: Tx,
  wanted: Recipients,
  nowMs: number,
  buffer: RecipientBuffer,
): Promise<{ readonly people: readonly LeftOut[]; readonly lacksBuffer: boolean }> {
  const { rows, lacksBuffer } = await selectAudience(tx, wanted, nowMs, buffer)
  const people = rows.flatMap((row): LeftOut[] => {
    const reason = reasonToLeaveOut(row)
    return reason === null ? [] : [{ userId: row.user_id, reason, withdrawn: row.withdrawn }]
  })
  return { people, lacksBuffer }
}

/** The people of an audience, reachable or not. */
async function selectAudience(
  tx: Tx,
  wanted: Recipients,
  nowMs: number,
  buffer: RecipientBuffer,
): Promise<{ readonly rows: readonly Row[]; readonly lacksBuffer: boolean }> {
  const audience = wanted.audience ?? 'all'
  const sinceMs = nowMs - (wanted.hours ?? 0) * HOUR_MS
  const people =
    wanted.user_ids === undefined
      ? // The buffer may still contain ids of erased people after their rows are gone.
        everybody(await withoutErased(tx, buffer.waiting ?? [], 0))
      : sql`(SELECT DISTINCT value AS user_id, false AS waits
             FROM jsonb_array_elements_text(${JSON.stringify(wanted.user_ids)}::text::jsonb))`
  const rows: readonly Row[] = await tx.orm.execute<Row>(sql`
    SELECT * FROM (
      SELECT u.user_id, u.waits, p.language, coalesce(p.participant_status = 'withdrawn', false) AS withdrawn,
             coalesce(f.reachable, true) AS reachable, p.user_id IS NULL AS unstored,
             coalesce(${conditionOf(audience, sinceMs)}, u.waits AND ${audience === 'inactive'}) AS fits
      FROM ${people} u
      LEFT JOIN pilgrims p ON p.user_id = u.user_id
      LEFT JOIN followers f ON f.user_id = u.user_id
      LEFT JOIN role_assignments r ON r.user_id = u.user_id
      LEFT JOIN pilgrim_totals t ON t.user_id = u.user_id
    ) known
    WHERE fits OR (waits AND ${audience === 'participants'})
    ORDER BY user_id COLLATE "C"`)
  const corrected = buffer.waiting && (await withBuffer(rows, audience, sinceMs, buffer))
  const needsBuffer = wanted.user_ids === undefined && BY_BUFFER.has(audience)
  return { rows: corrected ?? rows, lacksBuffer: needsBuffer && corrected === null }
}

/** Corrects the selection by pending points: who participates, and who was seen recently; null: they cannot be read. */
async function withBuffer(
  rows: readonly Row[],
  audience: Audience,
  sinceMs: number,
  buffer: RecipientBuffer,
): Promise<readonly Row[] | null> {
  const decides = (row: Row) =>
    row.waits && (audience === 'inactive' || (audience === 'participants' && !row.fits))
  const undecided = rows.filter(decides)
  if (undecided.length === 0) return rows
  const pending = await buffer.read(undecided.map(({ user_id }) => user_id))
  if (pending === null) return null
  const fits = (row: Row, points: readonly Point[]): boolean =>
    audience === 'participants'
      ? points.some(({ kind }) => kind === 'c')
      : points.length > 0
        ? points.every(({ recordedMs }) => recordedMs < sinceMs)
        : !row.unstored
  const inArea = ({ user_id: userId }: Row) => pending.get(userId)!.filter(({ inRange }) => inRange)
  return rows.filter((row) => !decides(row) || fits(row, inArea(row)))
}

/** Why LINE does not reach a person; null: it does. */
function reasonToLeaveOut({ user_id: userId, withdrawn, reachable }: Row): LeftOutReason | null {
  if (!isLineUserId(userId)) return 'no_line_id'
  return withdrawn ? 'withdrawn' : reachable ? null : 'unreachable'
}

function sorted(rows: readonly Row[], event: Event): Omit<Selected, 'lacksBuffer'> {
  const byLanguage = new Map<Language, string[]>()
  const everyone = new Map<Language, string[]>()
  const leftOut = { unreachable: 0, withdrawn: 0, no_line_id: 0 }
  let count = 0
  for (const row of rows) {
    const { user_id: userId, language, withdrawn } = row
    const theirs = event.languageOf([language])
    if (!withdrawn) everyone.getOrInsertComputed(theirs, () => []).push(userId)
    const reason = reasonToLeaveOut(row)
    if (reason === null) {
      count++
      byLanguage.getOrInsertComputed(theirs, () => []).push(userId)
    } else leftOut[reason]++
  }
  return { byLanguage, count, everybody: everyone, leftOut }
}

interface RecipientBuffer {
  /** Everyone with pending points; null: the buffer is unavailable. */
  readonly waiting: readonly string[] | null
  /** Reads the pending points of some of them; null: the buffer is unavailable. */
  read(userIds: readonly string[]): Promise<ReadonlyMap<string, readonly Point[]> | null>
}

const NO_BUFFER: RecipientBuffer = { waiting: null, read: async () => null }

/** Reads the buffer, outside any transaction, so that a slow kv holds no locks. */
export async function readPendingOfRecipients(kv: KvPoints): Promise<RecipientBuffer> {
  return {
    waiting: await pendingUsersWithTimeout(kv),
    read: (userIds) => readPending(kv, userIds),
  }
}

/** Reports of feedback: submitted by anyone, listed for operators and as the public board, changed by operators. */
import { and, count, desc, eq, getTableColumns, isNull, lt, type SQL, sql } from 'drizzle-orm'
import type { ServiceContext } from '#shared/service/context.ts'
import {
  type BoardItem,
  type FeedbackItem,
  type FeedbackQuery,
  type FeedbackRequest,
  FeedbackStatus,
  type FeedbackUpdate,
} from '#shared/contracts/feedback.ts'
import { time, timeOrNull } from '#shared/contracts/fields.ts'
import { conflict, expectSeen, invalid, notFound } from '#shared/runtime/refusal.ts'
import { refuseAfterEnd } from '#shared/service/http/check-request.ts'
import { readPage, RowId } from '#shared/service/http/pagination.ts'
import type { Operator } from '#shared/service/security/admin-auth.ts'
import { type Acting, audit } from '#shared/service/security/audit-log.ts'
import type { Database, Tx } from '#shared/stores/db/db.ts'
import { ensurePilgrim } from '#shared/pilgrims/person-lock.ts'
import { holdScreenshot } from '#shared/pilgrims/hold-screenshot.ts'
import { feedback, pilgrims } from '#shared/stores/schema/tables.ts'

type FeedbackRow = typeof feedback.$inferSelect & { readonly displayName: string | null }

const boardItem = (row: FeedbackRow): BoardItem => ({
  id: row.id,
  category: row.category,
  description: row.description,
  status: FeedbackStatus.parse(row.status),
  created_at: time(row.createdAt),
  updated_at: time(row.updatedAt),
  resolved_at: timeOrNull(row.resolvedAt),
})

const feedbackItem = (row: FeedbackRow): FeedbackItem => ({
  ...boardItem(row),
  userId: row.userId,
  display_name: row.displayName,
  screenshot_url: row.screenshotUrl,
  device_info: row.deviceInfo,
  user_agent: row.userAgent,
  contact: row.contact,
  admin_note: row.adminNote,
  hidden_at: timeOrNull(row.hiddenAt),
  hidden_reason: row.hiddenReason,
  marks: marksOf(`${row.category} ${row.description}`),
})

/** Eight digits or more, as people write telephone numbers. */
const PHONE = /\+?\d(?:[ ().-]?\d){7,}/
/** An id of LINE, or of the app. */
const ID = /\bU[0-9a-f]{32}\b|\bw-[0-7][0-9a-hjkmnp-tv-z]{25}\b/g

/** Parts of a report that an operator should review before it is public, such as telephone numbers. */
export function marksOf(words: string): FeedbackItem['marks'] {
  const others = words.replaceAll(ID, '')
  return [...(PHONE.test(others) ? ['phone' as const] : []), ...(others === words ? [] : ['id' as const])]
}

const FEEDBACK_ROW = { ...getTableColumns(feedback), displayName: pilgrims.displayName }

/**
 * The filter of a page by status. New reports may be any number, those that operators have handled are few. So beside
 * a category, which has an index too, this one is used for a handled status only.
 */
function statusIs({ status, category }: FeedbackQuery): SQL | undefined {
  if (status === undefined) return undefined
  return status === 'new' && category !== undefined
    ? sql`${feedback.status} || '' = ${status}`
    : eq(feedback.status, status)
}

/** The filter of a page by category, the counterpart of {@link statusIs}. */
function categoryIs({ status, category }: FeedbackQuery): SQL | undefined {
  if (category === undefined) return undefined
  return status === undefined || status === 'new'
    ? eq(feedback.category, category)
    : sql`${feedback.category} || '' = ${category}`
}

/**
 * The filters of a query except status and category, as SQL conditions.
 * @param isPublic excludes items removed from the board
 */
const conditionsOf = ({ search }: FeedbackQuery, isPublic: boolean) => [
  isPublic ? isNull(feedback.hiddenAt) : undefined,
  search === undefined
    ? undefined
    : sql`strpos(lower(concat_ws(' ', ${feedback.description}, ${feedback.category}, ${feedback.adminNote})), lower(${search})) > 0`,
]

const readReports = <Item>(
  { db }: ServiceContext,
  list: string,
  query: FeedbackQuery,
  item: (row: FeedbackRow) => Item,
  isPublic = list === 'board',
) =>
  readPage(
    list,
    [RowId],
    query,
    (before, limit) =>
      db.read(() =>
        db.snapshot(async (tx) => {
          // An index has the order. Without statistics Postgres would sort all reports: the embedded one has none.
          await tx.sql`SET LOCAL enable_sort = off`
          return tx.orm
            .select(FEEDBACK_ROW)
            .from(feedback)
            .leftJoin(pilgrims, eq(pilgrims.userId, feedback.userId))
            .where(
              and(
                before === null ? undefined : lt(feedback.id, before[0]),
                statusIs(query),
                categoryIs(query),
                ...conditionsOf(query, isPublic),
              ),
            )
            .orderBy(desc(feedback.id))
            .limit(limit)
        }),
      ),
    item,
    ({ id }) => [id],
  )

type Counts = Readonly<Record<FeedbackStatus, number>>

/** Counting this many reports takes long. Their counts are cached for a moment, because anyone may request them. */
const MANY = 5_000
const KEPT_MS = 5_000

interface Counting {
  /** Infinity while the reports are counted, which concurrent requests share. */
  untilMs: number
  readonly counts: Promise<Counts>
}
const keptOf = new WeakMap<Database, Map<string, Counting>>()

function countByStatus(context: ServiceContext, query: FeedbackQuery, isPublic: boolean): Promise<Counts> {
  if (query.search !== undefined) return countNow(context, query, isPublic)
  const cache = keptOf.get(context.db) ?? new Map<string, Counting>()
  keptOf.set(context.db, cache)
  for (const [key, { untilMs }] of cache) if (untilMs <= performance.now()) cache.delete(key)
  const key = JSON.stringify([query.category, isPublic])
  const cached = cache.get(key)
  if (cached !== undefined) return cached.counts
  const counted = countNow(context, query, isPublic)
  const counting: Counting = { untilMs: Infinity, counts: counted }
  cache.set(key, counting)
  const keep = async () => {
    const all = Object.values(await counted).reduce((sum, n) => sum + n, 0)
    counting.untilMs = performance.now() + (all > MANY ? KEPT_MS : 0)
  }
  keep().catch(() => cache.delete(key))
  return counted
}

async function countNow({ db }: ServiceContext, query: FeedbackQuery, isPublic: boolean): Promise<Counts> {
  const counted = await db.read(() =>
    db.orm
      .select({ status: feedback.status, n: count() })
      .from(feedback)
      .where(and(categoryIs({ ...query, status: undefined }), ...conditionsOf(query, isPublic)))
      .groupBy(feedback.status),
  )
  const counts = Object.fromEntries(FeedbackStatus.options.map((status) => [status, 0]))
  for (const { status, n } of counted) counts[status] = n
  return counts as Record<FeedbackStatus, number>
}

export async function listFeedback(context: ServiceContext, query: FeedbackQuery, operator: Operator | null) {
  if (operator === null) {
    refuseSearch(query)
    return readReports(context, 'board', query, boardItem)
  }
  return withCounts(context, query, readReports(context, 'feedback', query, feedbackItem), false)
}

/** @throws Refusal 400 for a search */
export async function readBoard(context: ServiceContext, query: FeedbackQuery) {
  refuseSearch(query)
  return withCounts(context, query, readReports(context, 'board', query, boardItem), true)
}

/**
 * A search reads every report, and the note, which the board does not show. It is rejected before anything is read.
 * @throws Refusal 400
 */
function refuseSearch({ search }: FeedbackQuery): void {
  if (search !== undefined) throw invalid('search: needs an operator’s token.')
}

async function withCounts<Page>(
  context: ServiceContext,
  query: FeedbackQuery,
  page: Promise<Page>,
  isPublic: boolean,
) {
  const [items, counts] = await Promise.all([page, countByStatus(context, query, isPublic)])
  return { ...items, counts }
}

interface Stored {
  readonly id: number
  readonly status: FeedbackStatus
}

/**
 * Stores an item, and creates the pilgrim if necessary. A report with a known id is answered as it is stored.
 * @throws Refusal 400 for a screenshot that was deleted because nothing referred to it for long; 403 once the event has
 *   ended; 409 for other words under the id of a stored report
 */
export async function submitFeedback(
  { db, kv, now, objects, config }: Pick<ServiceContext, 'db' | 'kv' | 'now' | 'objects' | 'config'>,
  request: FeedbackRequest,
): Promise<Stored> {
  const { user_id: userId, report_id: reportId, category, description } = request
  const at = new Date(now())
  return db.transaction(async (tx) => {
    if (userId !== undefined) await ensurePilgrim(tx, userId, at.getTime())
    const known = await findReport(tx, request)
    if (known !== null) return known
    await refuseAfterEnd({ db, kv })
    const url = request.screenshot_url
    if (url !== null && !(await holdScreenshot(tx, objects, config, url)))
      throw invalid('screenshot_url: this picture is not stored any more. Upload it again.')
    const [row] = await tx.orm
      .insert(feedback)
      .values({
        userId,
        reportId,
        category,
        description,
        status: 'new',
        screenshotUrl: url,
        deviceInfo: request.device_info,
        userAgent: request.user_agent,
        contact: request.contact,
        createdAt: at,
        updatedAt: at,
      })
      .onConflictDoNothing({ target: feedback.reportId })
      .returning({ id: feedback.id })
    // Without a row, the same report was being stored concurrently.
    return row === undefined ? (await findReport(tx, request))! : { id: row.id, status: 'new' }
  })
}

/** The report, if it has arrived before. @throws Refusal 409 when other words were stored under its id */
async function findReport(
  tx: Tx,
  { report_id: reportId, category, description }: FeedbackRequest,
): Promise<Stored | null> {
  if (!reportId) return null
  const [row] = await tx.orm.select().from(feedback).where(eq(feedback.reportId, reportId))
  if (row === undefined) return null
  if (row.category !== category || row.description !== description)
    throw conflict('report_id: another report was stored with this id. Send this one with a new id.')
  return { id: row.id, status: FeedbackStatus.parse(row.status) }
}

/**
 * Sets status or note, or removes the item from the public board or restores it, with an audit entry. The time of the
 * first `fixed` stays; any other status clears it.
 * @throws Refusal 404 for an unknown item, 409 when another operator has changed what the client saw
 */
export async function updateFeedback(
  { db, now }: ServiceContext,
  operator: Acting,
  id: number,
  { status, admin_note: note, hidden, reason, seen = {} }: FeedbackUpdate,
): Promise<FeedbackItem> {
  return db.transaction(async (tx) => {
    const [previous] = await tx.orm.select().from(feedback).where(eq(feedback.id, id)).for('update')
    if (previous === undefined) throw notFound(`There is no feedback with the id ${id}.`)
    const next = status ?? previous.status
    const newNote = note == null ? previous.adminNote : note.trim() || null
    const seenNote = seen.admin_note === '' ? null : seen.admin_note
    expectSeen(seen.status, previous.status, next, `Somebody has set this item to ${previous.status}`)
    expectSeen(seenNote, previous.adminNote, newNote, 'Somebody has changed the note of this item')
    await tx.orm
      .update(feedback)
      .set({
        status: next,
        adminNote: newNote,
        resolvedAt: next === 'fixed' ? (previous.resolvedAt ?? new Date(now())) : null,
        ...(hidden != null && {
          hiddenAt: hidden ? (previous.hiddenAt ?? new Date(now())) : null,
          hiddenReason: hidden ? reason : null,
        }),
        updatedAt: new Date(now()),
      })
      .where(eq(feedback.id, id))
    const change = {
      id,
      from: previous.status,
      status: next,
      note_changed: note != null,
      ...(hidden != null && { hidden, reason }),
    }
    await audit(tx, operator, 'update-feedback', change, now())
    const [row] = await tx.orm
      .select(FEEDBACK_ROW)
      .from(feedback)
      .leftJoin(pilgrims, eq(pilgrims.userId, feedback.userId))
      .where(eq(feedback.id, id))
    return feedbackItem(row!)
  })
}

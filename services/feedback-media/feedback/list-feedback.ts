/** Lists feedback: in full for operators, and as the public board. */
import { and, count, desc, eq, getTableColumns, lt, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { ServiceContext } from '#shared/service/context.ts'
import {
  type BoardItem,
  type FeedbackItem,
  type FeedbackQuery,
  FeedbackStatus,
} from '#shared/contracts/feedback.ts'
import { time } from '#shared/contracts/fields.ts'
import { invalid } from '#shared/runtime/refusal.ts'
import { decodeCursor, encodeCursor, pageOf, RowId } from '#shared/service/http/pagination.ts'
import type { Operator } from '#shared/service/security/admin-auth.ts'
import { maySeeId } from '#shared/service/security/pilgrim-identity.ts'
import { feedback, pilgrims } from '#shared/stores/schema/tables.ts'

/** A row of feedback with its pilgrim's name. */
type FeedbackRow = typeof feedback.$inferSelect & { readonly displayName: string | null }

const boardItem = (row: FeedbackRow): BoardItem => ({
  id: row.id,
  category: row.category,
  description: row.description,
  status: FeedbackStatus.parse(row.status),
  created_at: time(row.createdAt.getTime()),
  updated_at: time(row.updatedAt.getTime()),
  resolved_at: row.resolvedAt && time(row.resolvedAt.getTime()),
})

/** The operators' view of a row. */
export const feedbackItem = (row: FeedbackRow): FeedbackItem => ({
  ...boardItem(row),
  userId: row.userId,
  display_name: row.displayName,
  screenshot_url: row.screenshotUrl,
  device_info: row.deviceInfo,
  user_agent: row.userAgent,
  contact: row.contact,
  admin_note: row.adminNote,
})

/** Columns of a `FeedbackRow`, from `feedback` joined with `pilgrims`. */
export const FEEDBACK_ROW = { ...getTableColumns(feedback), displayName: pilgrims.displayName }

/** The filters of a query but the status, as SQL conditions. */
const conditionsOf = ({ category, search }: FeedbackQuery) => [
  category === undefined ? undefined : eq(feedback.category, category),
  search === undefined
    ? undefined
    : sql`strpos(lower(concat_ws(' ', ${feedback.description}, ${feedback.category}, ${feedback.adminNote})), lower(${search})) > 0`,
]

async function readPage<Item>(
  { db }: ServiceContext,
  list: string,
  query: FeedbackQuery,
  item: (row: FeedbackRow) => Item,
) {
  const { limit, cursor, status } = query
  const before = cursor === undefined ? undefined : decodeCursor(list, cursor, z.tuple([RowId]))[0]
  const rows = await db.read(() =>
    db.orm
      .select(FEEDBACK_ROW)
      .from(feedback)
      .leftJoin(pilgrims, eq(pilgrims.userId, feedback.userId))
      .where(
        and(
          before === undefined ? undefined : lt(feedback.id, before),
          status === undefined ? undefined : eq(feedback.status, status),
          ...conditionsOf(query),
        ),
      )
      .orderBy(desc(feedback.id))
      .limit(limit + 1),
  )
  return pageOf(rows, limit, item, ({ id }) => encodeCursor(list, [id]))
}

/** Number of items by status. */
async function countByStatus(
  { db }: ServiceContext,
  query: FeedbackQuery,
): Promise<Record<FeedbackStatus, number>> {
  const counted = await db.read(() =>
    db.orm
      .select({ status: feedback.status, n: count() })
      .from(feedback)
      .where(and(...conditionsOf(query)))
      .groupBy(feedback.status),
  )
  const counts = Object.fromEntries(FeedbackStatus.options.map((status) => [status, 0]))
  for (const { status, n } of counted) counts[status] = n
  return counts as Record<FeedbackStatus, number>
}

/** A search reads every report, and the note, which the board does not show. @throws Refusal 400 */
function refuseSearch({ search }: FeedbackQuery): void {
  if (search !== undefined) throw invalid('search: needs an operator’s token.')
}

/** Newest first: in full for operators, with the number of items of each status, or the public board. */
export async function listFeedback(context: ServiceContext, query: FeedbackQuery, operator: Operator | null) {
  if (operator === null) {
    refuseSearch(query)
    return readPage(context, 'board', query, boardItem)
  }
  const [items, counts] = await Promise.all([
    readPage(context, 'feedback', query, (row) => {
      const isShown = row.userId === null || maySeeId(context.config, operator, row.userId)
      return feedbackItem(isShown ? row : { ...row, userId: null })
    }),
    countByStatus(context, query),
  ])
  return { ...items, counts }
}

/** The board with the number of items of each status. */
export async function readBoard(context: ServiceContext, query: FeedbackQuery) {
  refuseSearch(query)
  const [items, counts] = await Promise.all([
    readPage(context, 'board', query, boardItem),
    countByStatus(context, query),
  ])
  return { ...items, counts }
}

/** Stores feedback from anyone, with or without a user id. */
import { eq } from 'drizzle-orm'
import type { Writer } from '#shared/stores/bus/outbox.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { type FeedbackRequest, FeedbackStatus } from '#shared/contracts/feedback.ts'
import { conflict, invalid } from '#shared/runtime/refusal.ts'
import { holdScreenshot } from '#shared/pilgrims/hold-screenshot.ts'
import { feedback } from '#shared/stores/schema/tables.ts'
import { ensurePilgrim } from '#shared/pilgrims/ensure-pilgrim.ts'

interface Stored {
  readonly id: number
  readonly status: FeedbackStatus
}

/**
 * Stores an item, and creates the pilgrim if necessary. A report whose id is known is answered as it is stored.
 * @throws Refusal 400 for a screenshot that was deleted, because nothing has named it for long; 409 for other words under
 *   the id of a stored report
 */
export async function submitFeedback(
  { db, now, objects, config }: Pick<ServiceContext, 'db' | 'now' | 'objects' | 'config'>,
  request: FeedbackRequest,
): Promise<Stored> {
  const { user_id: userId, report_id: reportId, category, description } = request
  const at = new Date(now())
  return db.orm.transaction(async (tx) => {
    if (userId !== undefined) await ensurePilgrim(tx, userId, at.getTime())
    const known = await findReport(tx, request)
    if (known !== null) return known
    const url = request.screenshot_url
    if (url !== null && !(await holdScreenshot(tx, objects, config, url)))
      throw invalid('screenshot_url: this picture is not stored any more. Upload it again.')
    const [row] = await tx
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
    // Without a row, the same report was being stored at this moment.
    return row === undefined ? (await findReport(tx, request))! : { id: row.id, status: 'new' }
  })
}

/** The report, if it has arrived before. @throws Refusal 409 when other words were stored under its id */
async function findReport(
  tx: Writer,
  { report_id: reportId, category, description }: FeedbackRequest,
): Promise<Stored | null> {
  if (!reportId) return null
  const [row] = await tx.select().from(feedback).where(eq(feedback.reportId, reportId))
  if (row === undefined) return null
  if (row.category !== category || row.description !== description)
    throw conflict('report_id: another report was stored with this id. Send this one with a new id.')
  return { id: row.id, status: FeedbackStatus.parse(row.status) }
}

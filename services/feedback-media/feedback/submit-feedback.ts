/** Stores feedback from anyone, with or without a user id. */
import { eq } from 'drizzle-orm'
import type { Writer } from '#shared/bus/outbox.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { type FeedbackRequest, FeedbackStatus } from '#shared/contracts/feedback.ts'
import { invalid } from '#shared/http/errors.ts'
import { holdScreenshot } from '#shared/pilgrims/hold-screenshot.ts'
import { feedback } from '#shared/schema/feedback.ts'
import { ensurePilgrim } from '#shared/pilgrims/ensure-pilgrim.ts'

interface Stored {
  readonly id: number
  readonly status: FeedbackStatus
}

/**
 * Stores an item, and creates the pilgrim if necessary. A report whose id is known is answered as it is stored.
 * @throws Refusal 400 for a screenshot that was deleted, because nothing has named it for long
 */
export async function submitFeedback(
  { db, now, objects, config }: Pick<ServiceContext, 'db' | 'now' | 'objects' | 'config'>,
  request: FeedbackRequest,
): Promise<Stored> {
  const { user_id: userId, report_id: reportId = null, category, description } = request
  const at = new Date(now())
  return db.orm.transaction(async (tx) => {
    if (userId !== undefined) await ensurePilgrim(tx, userId, at.getTime())
    const known = await findReport(tx, reportId)
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
    return row === undefined ? (await findReport(tx, reportId))! : { id: row.id, status: 'new' }
  })
}

/** A report that has arrived before; null: none has this id. */
async function findReport(tx: Writer, reportId: string | null): Promise<Stored | null> {
  if (reportId === null) return null
  const [row] = await tx
    .select({ id: feedback.id, status: feedback.status })
    .from(feedback)
    .where(eq(feedback.reportId, reportId))
  return row === undefined ? null : { id: row.id, status: FeedbackStatus.parse(row.status) }
}

/** Stores feedback from anyone, with or without a user id. */
import type { ServiceContext } from '#shared/runtime/context.ts'
import type { FeedbackRequest, FeedbackStatus } from '#shared/contracts/feedback.ts'
import { invalid } from '#shared/http/errors.ts'
import { holdScreenshot } from '#shared/pilgrims/hold-screenshot.ts'
import { feedback } from '#shared/schema/feedback.ts'
import { ensurePilgrim } from '#shared/pilgrims/ensure-pilgrim.ts'

/**
 * Stores an item, and creates the pilgrim if necessary.
 * @throws Refusal 400 for a screenshot that was deleted, because nothing has named it for long
 */
export async function submitFeedback(
  { db, now, objects, config }: Pick<ServiceContext, 'db' | 'now' | 'objects' | 'config'>,
  request: FeedbackRequest,
): Promise<{ id: number; status: FeedbackStatus }> {
  const { user_id: userId, category, description } = request
  const at = new Date(now())
  return db.orm.transaction(async (tx) => {
    if (userId !== undefined) await ensurePilgrim(tx, userId, at.getTime())
    const url = request.screenshot_url
    if (url !== null && !(await holdScreenshot(tx, objects, config, url)))
      throw invalid('screenshot_url: this picture is not stored any more. Upload it again.')
    const [row] = await tx
      .insert(feedback)
      .values({
        userId,
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
      .returning({ id: feedback.id })
    return { id: row!.id, status: 'new' }
  })
}

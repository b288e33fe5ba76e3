/**
 * Checks a screenshot of this service before it is sent, because LINE does not report a picture that it can not
 * show. Other addresses are not checked: the service fetches no address from a request.
 */
import type { ServiceContext } from '#shared/runtime/context.ts'
import { invalid } from '#shared/http/errors.ts'
import type { Writer } from '#shared/bus/outbox.ts'
import { screenshotKey } from '#shared/objects/pictures.ts'
import { holdScreenshot } from '#shared/pilgrims/hold-screenshot.ts'

/** LINE, "Image message": the preview has at most 1 MB. The same address serves as picture and preview. */
const MAX_BYTES = 1_000_000

const missing = () => invalid('image_url: there is no screenshot with this name')

/** @throws Refusal 400 for a screenshot of this service that is missing or larger than 1 MB */
export async function checkImage({ config, objects }: ServiceContext, url: string): Promise<void> {
  const ours = `${config.publicUrl}/api/event/feedback-image/`
  if (!url.startsWith(ours)) return
  const key = screenshotKey(url.slice(ours.length))
  const stored = key === null ? null : await objects.head(key)
  if (stored === null) throw missing()
  if (stored.size > MAX_BYTES)
    throw invalid('image_url: is larger than 1 MB; LINE does not show larger pictures')
}

/**
 * Keeps a screenshot of this service until the message that names it is stored.
 * @throws Refusal 400 when it is deleted
 */
export async function holdImage(tx: Writer, { config, objects }: ServiceContext, url: string): Promise<void> {
  if (!(await holdScreenshot(tx, objects, config, url))) throw missing()
}

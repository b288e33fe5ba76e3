/**
 * A picture of our own that LINE would not show is found before it is sent: LINE itself says nothing. Nobody's
 * address is ever fetched, so of other pictures only LINE can tell.
 */
import type { ServiceContext } from '#shared/runtime/context.ts'
import { invalid } from '#shared/http/errors.ts'
import { screenshotKey } from '#shared/objects/pictures.ts'

/** "Image message": the preview is of at most 1 MB, and the same address serves as both. */
const MAX_BYTES = 1_000_000

/** @throws Refusal 400 for a screenshot of ours that is not there, or larger than 1 MB */
export async function checkImage({ config, objects }: ServiceContext, url: string): Promise<void> {
  const ours = `${config.publicUrl}/api/event/feedback-image/`
  if (!url.startsWith(ours)) return
  const key = screenshotKey(url.slice(ours.length))
  const stored = key === null ? null : await objects.head(key)
  if (stored === null) throw invalid('image_url: there is no screenshot of that name')
  if (stored.size > MAX_BYTES) throw invalid('image_url: is larger than 1 MB, which LINE does not show')
}

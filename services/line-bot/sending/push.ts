/** Plans a message of an operator. The whole request is checked before anything is stored. */
import { randomUUID } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { type Acting, audit } from '#shared/service/security/audit-log.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import {
  ExcludedRecipients,
  type PushAnswer,
  type PushRequest,
  type Recipients,
} from '#shared/contracts/messages.ts'
import { conflict, invalid, unavailable } from '#shared/runtime/refusal.ts'
import type { Line, Message } from '#shared/service/line/line-client.ts'
import type { Tx } from '#shared/stores/db/db.ts'
import { withoutErased, lockRecipients } from '#shared/pilgrims/person-lock.ts'
import { messages as sent, type Notice } from '#shared/stores/schema/tables.ts'
import { countDevices } from '../web-push/plan-deliveries.ts'
import { selectRecipients, readPendingOfRecipients } from './audience.ts'
import { card, paragraph } from '../bot/flex.ts'
import { askQuota } from './line-usage.ts'
import { planMessage, type Planned, undecided } from './plan-message.ts'
import { screenshotKey } from '#shared/stores/objects/pictures.ts'
import { holdScreenshot } from '#shared/pilgrims/hold-screenshot.ts'

/** LINE, "Image message": the preview has at most 1 MB. The same URL serves as picture and preview. */
const MAX_BYTES = 1_000_000

const missing = () => invalid('image_url: there is no screenshot with this name')

/** @throws Refusal 400 for a screenshot of this service that is missing or larger than 1 MB */
async function checkImage({ config, objects }: ServiceContext, url: string): Promise<void> {
  const ours = `${config.publicUrl}/api/event/feedback-image/`
  if (!url.startsWith(ours)) return
  const key = screenshotKey(url.slice(ours.length))
  const stored = key === null ? null : await objects.head(key)
  if (stored === null) throw missing()
  if (stored.size > MAX_BYTES)
    throw invalid('image_url: is larger than 1 MB; LINE does not show larger pictures')
}

/** @returns the message that an earlier call with the same id has stored */
async function findEarlier(tx: Tx, { push_id: pushId, dry_run: isTrial }: PushRequest) {
  if (pushId == null || isTrial === true) return undefined
  const [row] = await tx.orm
    .select()
    .from(sent)
    .where(eq(sent.causeKey, `push:${pushId}`))
  return row && { ...row, leftOut: ExcludedRecipients.parse(row.leftOut) }
}

/**
 * Plans a push. With `dry_run` it only returns the recipients and the cost. A repeated one is answered as it is stored.
 * @throws Refusal 400 for a screenshot that LINE would not show; 409 beyond the quota, unless forced; 503 when the
 *   quota cannot be read from LINE, or when the buffer, which determines who is inactive, is unavailable
 */
export async function push(
  context: ServiceContext,
  line: Line | null,
  operator: Acting,
  request: PushRequest,
): Promise<PushAnswer> {
  const { db, now } = context
  const requestedMs = now()
  const isRepeated = (await findEarlier(db, request)) !== undefined
  if (request.image_url != null && !isRepeated) await checkImage(context, request.image_url)
  const quota =
    line === null ? null : await readRemaining(context, line, request.force === true || isRepeated)
  const buffer = await readPendingOfRecipients(context.kv)
  return db.transaction(async (tx) => {
    // Other pushes wait for this lock. The picture is kept until the message is stored.
    await lockRecipients(tx)
    const { image_url: url } = request
    const earlier = await findEarlier(tx, request)
    if (
      earlier === undefined &&
      url != null &&
      !(await holdScreenshot(tx, context.objects, context.config, url))
    )
      throw missing()
    const named = request.user_ids && (await withoutErased(tx, request.user_ids, requestedMs))
    const audience = recipientsOf({ ...request, user_ids: named })
    const selected = await selectRecipients(tx, context, audience, buffer)
    if (earlier === undefined) checkKnown(audience, selected)
    const remaining = quota === null ? null : Math.max(0, quota - (await undecided(tx)))
    const notice = noticeOf(context, request)
    const devices = notice === undefined ? 0 : await countDevices(tx, selected.everybody)
    const answer = (planned: Planned | null): PushAnswer => ({
      id: planned?.id ?? null,
      recipients: planned?.recipients ?? selected.count,
      cost: planned?.recipients ?? selected.count,
      quota_remaining: remaining,
      left_out: planned?.leftOut ?? selected.leftOut,
      devices,
      ...(selected.lacksBuffer ? { pending: null } : {}),
    })
    if (request.dry_run === true) return answer(null)
    if (earlier !== undefined) return answer(earlier)
    if (remaining !== null && selected.count > remaining && request.force !== true)
      throw conflict(
        `This costs ${selected.count} messages, but only ${remaining} are left of the month's quota. Choose fewer people, or set force.`,
      )
    const planned = await planMessage(tx, {
      cause: 'push',
      causeKey: `push:${request.push_id ?? randomUUID()}`,
      audience,
      selected,
      content: () => contentOf(request),
      notice: notice && (() => notice),
      forced: request.force === true,
      configured: line !== null,
      createdBy: operator.name,
      nowMs: now(),
    })
    await auditPush(tx, operator, request, planned!, now())
    return answer(planned)
  })
}

/** @throws Refusal 503 when recently seen people may be among the inactive */
export function checkKnown<S extends { readonly lacksBuffer: boolean }>(
  { audience }: Recipients,
  selected: S,
): S {
  if (audience !== 'inactive' || !selected.lacksBuffer) return selected
  throw unavailable(
    'Who was seen lately cannot be read right now, so nobody is inactive for certain. Please try again in a moment.',
  )
}

function auditPush(
  tx: Tx,
  operator: Acting,
  { audience, user_ids, text, title, image_url, force }: PushRequest,
  { id, recipients }: Planned,
  nowMs: number,
): Promise<void> {
  const details = {
    id,
    recipients,
    audience: audience ?? `${user_ids?.length ?? 0} ids`,
    message: title ?? text ?? image_url ?? null,
    forced: force === true,
  }
  return audit(tx, operator, 'push', details, nowMs)
}

/** @returns remaining messages of this month; null when unlimited, or unknown and not needed */
async function readRemaining(
  context: ServiceContext,
  line: Line,
  mayBeUnknown: boolean,
): Promise<number | null> {
  const quota = await askQuota(context, line)
  if (quota !== null) return quota.limit === null ? null : quota.limit - quota.used
  if (mayBeUnknown) return null
  throw unavailable('The quota could not be read from LINE. Try again in a moment, or set force.')
}

const INACTIVE_HOURS = 24

export const recipientsOf = ({
  audience,
  hours,
  user_ids,
}: Pick<PushRequest, 'audience' | 'hours' | 'user_ids'>): Recipients => ({
  ...(audience == null ? {} : { audience }),
  ...(audience === 'inactive' ? { hours: hours ?? INACTIVE_HOURS } : {}),
  ...(user_ids == null ? {} : { user_ids }),
})

/** Undefined while Web Push is off, and for a picture without text. */
const noticeOf = ({ config, event }: ServiceContext, { title, text }: PushRequest): Notice | undefined =>
  config.push === null || text == null ? undefined : { title: title ?? event.current.name, body: text }

/** With a title the message is one card. Without a title the picture comes before the text. */
function contentOf({ title, text, image_url: image }: PushRequest): Message[] {
  if (title != null)
    return [card({ title, contents: [paragraph(text!)], ...(image == null ? {} : { imageUrl: image }) })]
  const messages: Message[] = []
  if (image != null) messages.push({ type: 'image', originalContentUrl: image, previewImageUrl: image })
  if (text != null) messages.push({ type: 'text', text })
  return messages
}

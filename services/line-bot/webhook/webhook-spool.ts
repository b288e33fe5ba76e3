/** Webhook events that came while the database was away: LINE does not ask twice unless it is told to. */
import type { ServiceContext } from '#shared/runtime/context.ts'
import { LineEvent } from '#shared/contracts/bot.ts'
import { isDatabaseUnavailable } from '#shared/db/db.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { SPOOL } from '#shared/objects/spooled-webhook-events.ts'
import { setAside } from './set-aside-event.ts'
import { storeWebhookEvents } from './store-webhook-events.ts'

const EVERY_MS = 15_000

/** Puts events into the object store; the same event twice is one object. */
export async function spoolEvents({ objects }: ServiceContext, events: readonly LineEvent[]): Promise<void> {
  await Promise.all(
    events.map((event) =>
      objects.put(
        `${SPOOL}${event.webhookEventId.replaceAll(/[^A-Za-z0-9_-]/g, '-')}`,
        Buffer.from(JSON.stringify(event)),
        { contentType: 'application/json' },
      ),
    ),
  )
}

/**
 * Brings what waits in the object store into the database. Safe to repeat: an event is known by its id. What can not
 * be brought stays or is set aside, and keeps nothing behind it waiting.
 * @throws what says that a store is away
 */
export async function drainSpool(context: ServiceContext): Promise<void> {
  const { objects, log } = context
  for await (const key of objects.list(SPOOL)) {
    const object = await objects.get(key)
    if (object === null) continue
    try {
      await bring(context, Buffer.from(object.bytes).toString('utf8'))
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error
      log.error('a spooled event is not stored', errorFields(error))
      continue
    }
    await objects.delete(key)
  }
}

async function bring(context: ServiceContext, text: string): Promise<void> {
  const event = LineEvent.safeParse(parsed(text))
  await (event.success ? storeWebhookEvents(context, [event.data]) : setAside(context, text, event.error))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Looks after the spool from now on. @returns what stops it */
export function watchSpool(context: ServiceContext): () => Promise<void> {
  let running: Promise<void> | null = null
  const look = () => {
    running ??= drainSpool(context)
      .catch((error: unknown) => {
        if (!isDatabaseUnavailable(error))
          context.log.error('spooled events are not stored', errorFields(error))
      })
      .finally(() => (running = null))
  }
  const timer = setInterval(look, EVERY_MS)
  look()
  return async () => {
    clearInterval(timer)
    await running
  }
}

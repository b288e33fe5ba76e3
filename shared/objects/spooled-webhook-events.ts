/** Webhook events that are stored in the object store while the database is unavailable. */
import { LineEvent } from '#shared/contracts/bot.ts'
import type { Objects } from './objects.ts'

export const SPOOL = 'webhooks/'

/** Deletes a person's spooled webhook events up to a time (epoch milliseconds). */
export async function deleteSpooled(objects: Objects, userId: string, untilMs: number): Promise<void> {
  for await (const key of objects.list(SPOOL)) {
    const object = await objects.get(key)
    const event = object === null ? null : eventIn(object.bytes)
    if (event?.source?.userId === userId && event.timestamp <= untilMs) await objects.delete(key)
  }
}

/** Null if the object is not an event. */
function eventIn(bytes: Uint8Array): LineEvent | null {
  try {
    return LineEvent.safeParse(JSON.parse(Buffer.from(bytes).toString('utf8'))).data ?? null
  } catch {
    return null
  }
}

/** Webhook events that are stored in the object store while the database is unavailable. */
import { LineEvent } from '#shared/contracts/bot.ts'
import { type Objects, ObjectDamaged } from './objects.ts'

export const SPOOL = 'webhooks/'

/** Deletes a person's spooled webhook events up to a time (epoch milliseconds). */
export async function deleteSpooled(objects: Objects, userId: string, untilMs: number): Promise<void> {
  for await (const key of objects.list(SPOOL)) {
    // Whose a damaged one is nobody can tell, and nobody can store it: it is deleted.
    const bytes = await objects.get(key).then(
      (object) => object?.bytes ?? null,
      (error: unknown) => {
        if (!(error instanceof ObjectDamaged)) throw error
        return undefined
      },
    )
    const event = bytes == null ? null : eventIn(bytes)
    const isTheirs = event?.source?.userId === userId && event.timestamp <= untilMs
    if (isTheirs || bytes === undefined) await objects.delete(key)
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

/** Writes recorded points into the store. */
import { type Failure, failure } from '../answer.ts'
import { queuedPoint, type RecordedPoint } from './queued-point.ts'
import { readOwner } from './read-owner.ts'
import type { Parts } from './rounds.ts'
import type { Kind, QueuedPoint } from './store.ts'

/** `ok`: durable on this device, and will be sent. */
export type Kept = { readonly ok: true } | Failure

/** Keeps all of these points, or says why it keeps none. Never rejects. */
export async function keepPoints(
  { client, store, clock }: Pick<Parts, 'client' | 'store' | 'clock'>,
  kind: Kind,
  given: readonly RecordedPoint[],
): Promise<Kept> {
  const who = await readOwner(client)
  if (!who.ok) return who
  try {
    const points = given.map((point) => queuedPoint(who.userId, kind, point, clock.now()))
    const wrong = points.find((point) => 'ok' in point)
    if (wrong !== undefined) return wrong
    await store.add(points.filter((point): point is QueuedPoint => !('ok' in point)))
    return { ok: true }
  } catch (error) {
    return failure('storage', `This device cannot keep the point: ${(error as Error).message}`)
  }
}

/** Tells of pilgrims who are known only in the buffer. */
import { eq } from 'drizzle-orm'
import { isBeingErased } from '#shared/pilgrims/person-lock.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { pilgrims } from '#shared/schema/profiles.ts'

/** Whether a pilgrim has pending points and no row yet, so that an operator's write has to make it. @throws KvUnavailable */
export async function isOnlyPending(
  { db, kv }: Pick<ServiceContext, 'db' | 'kv'>,
  userId: string,
): Promise<boolean> {
  const mine = eq(pilgrims.userId, userId)
  const [stored] = await db.read(() => db.orm.select({ userId: pilgrims.userId }).from(pilgrims).where(mine))
  return stored === undefined && (await kv.peek(userId)).length > 0 && !(await isBeingErased(db.orm, userId))
}

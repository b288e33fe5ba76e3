/** The link that the bot's answers give a pilgrim to pass on. It contains no user id. */
import type { ServiceContext } from '#shared/service/context.ts'
import { mayWrite } from '#shared/pilgrims/person-lock.ts'
import { bringBotShare, shareUrl } from '#shared/pilgrims/shares.ts'

/**
 * Makes the link at the first call.
 * @param askedMs when the pilgrim was read, epoch milliseconds
 * @returns null for a pilgrim who has withdrawn, or was erased
 */
export async function linkOfPilgrim(
  { config, db, now }: Pick<ServiceContext, 'config' | 'db' | 'now'>,
  userId: string,
  askedMs: number,
): Promise<string | null> {
  const id = await db.orm.transaction(async (tx) =>
    (await mayWrite(tx, userId, askedMs)) ? bringBotShare(tx, userId, now()) : null,
  )
  return id === null ? null : shareUrl(config.publicUrl, id)
}

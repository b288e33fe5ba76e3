/** Whose points the queue records and sends. */
import { type Failure, failure } from '../answer.ts'
import type { Client } from '../create-client.ts'

/** The form of a user id that the service accepts. */
const USER_ID = /^(?!\.\.?$)[\w.:@-]{1,128}$/

/**
 * The pilgrim whom `identity` names, or why there is none: code `unauthorized`. Never rejects; where `identity` failed,
 * the error has its `cause`, and another attempt may succeed.
 */
export async function readOwner(
  client: Pick<Client, 'identity'>,
): Promise<{ readonly ok: true; readonly userId: string } | Failure> {
  try {
    const who = await client.identity()
    if (who === undefined) return failure('unauthorized', 'Nobody is signed in: points have no owner.')
    const { userId } = who
    if (typeof userId === 'string' && USER_ID.test(userId)) return { ok: true, userId }
    return failure(
      'unauthorized',
      `identity: userId ${JSON.stringify(userId)} must be 1 to 128 characters of A-Z a-z 0-9 _ . : @ - (and not "." or "..").`,
    )
  } catch (cause) {
    const { error } = failure('unauthorized', `Who is signed in cannot be read: ${(cause as Error).message}`)
    return { ok: false, error: { ...error, cause } }
  }
}

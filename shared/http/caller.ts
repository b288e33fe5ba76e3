/** In whose name a public call is made. */
import { USER_ID_ALIASES } from '#shared/contracts/fields.ts'
import { invalid } from '#shared/http/errors.ts'

/**
 * Folds the aliases of the pilgrim's id, and the header where there is none, into `user_id`.
 * @throws Refusal 400 when two of them disagree
 */
export function foldUserId(given: unknown, header: string | null): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given
  const fields = given as Record<string, unknown>
  let userId: unknown
  for (const alias of USER_ID_ALIASES) {
    const value = fields[alias]
    if (value === undefined || value === null) continue
    if (userId !== undefined && userId !== value)
      throw invalid(`${alias}: differs from another name of the same field; send one user_id`)
    userId = value
  }
  userId ??= header ?? undefined
  return userId === undefined || fields.user_id === userId ? given : { ...fields, user_id: userId }
}

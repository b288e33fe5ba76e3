/** The user id of a public call. */
import { USER_ID_ALIASES } from '#shared/contracts/fields.ts'
import { invalid } from '#shared/http/errors.ts'

/**
 * Sets `user_id` from its aliases, or from the header if the body has none.
 * @throws Refusal 400 if two of them differ
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

/** Error messages of validation, for schemas without their own message. */
import type { z } from 'zod'

const KINDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    string: 'text',
    number: 'a number',
    int: 'a whole number',
    boolean: 'true or false',
    array: 'a list',
    object: 'an object',
    record: 'an object',
  }),
)

const FORMATS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    datetime: 'must be an ISO 8601 time with a zone, such as 2026-04-03T06:00:00+08:00',
    url: 'must be a whole address, such as https://example.org',
    uuid: 'must be a UUID',
  }),
)

const UNITS = new Map([
  ['string', ['character', 'characters']],
  ['array', ['entry', 'entries']],
])

/** Message for a limit: of the length of a text or list, or of a number. */
function bound(origin: string, how: string, limit: number | bigint): string {
  const unit = UNITS.get(origin)?.[Number(limit) === 1 ? 0 : 1]
  return unit === undefined ? `must be ${how} ${limit}` : `must have ${how} ${limit} ${unit}`
}

/** The `error` of `safeParse`: the predicate that follows the field's name; undefined: zod's own message. */
export function validationMessage(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined && (issue.code === 'invalid_type' || issue.code === 'invalid_value'))
    return 'is missing'
  if (issue.code === 'invalid_type') {
    const kind = KINDS.get(issue.expected)
    return kind && `must be ${kind}`
  }
  if (issue.code === 'invalid_value')
    return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`
  if (issue.code === 'too_small')
    return bound(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum)
  if (issue.code === 'too_big')
    return bound(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum)
  if (issue.code === 'invalid_union') return 'is of a wrong type'
  return issue.code === 'invalid_format' ? FORMATS.get(issue.format) : undefined
}

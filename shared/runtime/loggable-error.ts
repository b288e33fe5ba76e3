/** What may be said of an error where others read it: in a log, an operator's terminal, a reason that is kept. */

/**
 * An error whose message our own code wrote, and which holds nothing that a request, a row or another program gave.
 * Of any other error the message is not told: drivers and the language itself quote what they were given.
 */
export class LoggableError extends Error {
  override name = 'LoggableError'
}

/** Causes of causes that are followed, and members of an aggregate that are told. */
const DEEPEST = 5
const MEMBERS = 3

/** Classes of SQLSTATE whose messages name tables, constraints and servers, and never a value. */
const PLAIN_SQLSTATE = /^(08|23|25|28|3D|40|42|53|54|55|57)...$/
/** Data exceptions, whose own messages quote the value. */
const DATA_EXCEPTIONS: Readonly<Record<string, string>> = {
  '22001': 'a text is too long',
  '22003': 'a number is out of range',
  '22007': 'not a time',
  '22008': 'a time is out of range',
  '22021': 'a character that text can not hold (0x00)',
  '22P02': 'not a value of its type, such as a text for a number',
  '22P05': 'a character that text can not hold (0x00)',
}

/** Sentences of libraries and of the language that are the same whatever was given, or quote source text only. */
const KNOWN = [
  /^Connection is closed\.$/,
  /^Command timed out$/,
  /^Stream isn't writeable and enableOfflineQueue options is false$/,
  /^Reached the max retries per request limit \(which is \d+\)/,
  /^(undefined|null) is not (an object|a function) \(evaluating '[^']*'\)$/,
  /^[\w$.]+ is not a function\. \(In '[^']*', '[^']*' is (undefined|null)\)$/,
  /^Can't find variable: [\w$]+$/,
  /^Maximum call stack size exceeded\.?$/,
]

/** A property where it is text of this form, or a whole number. */
function plain(error: Error, name: string, form: RegExp): string | null {
  const value = (error as unknown as Record<string, unknown>)[name]
  if (typeof value === 'string') return form.test(value) ? value : null
  return Number.isInteger(value) ? String(value) : null
}

const WORD = /^[A-Za-z_]\w{0,63}$/
/** A name of its own, or that of its class: libraries forget one or the other. */
const typeOf = (error: Error): string =>
  [error.name, error.constructor.name].find((name) => name !== 'Error' && WORD.test(name)) ?? 'Error'

/** A system's, a driver's or Postgres's own name of what went wrong; of Redis the first word of its answer. */
function codeOf(error: Error): string | null {
  const code = plain(error, 'code', /^[A-Za-z0-9][\w-]{1,63}$/)
  if (code !== null || typeOf(error) !== 'ReplyError') return code
  return /^[A-Z]{2,20}\b/.exec(error.message)?.[0] ?? null
}

/** The message where it is known to quote nothing. */
function sentenceOf(error: Error): string | null {
  if (error instanceof LoggableError) return error.message
  if (typeOf(error) === 'PostgresError') {
    const code = codeOf(error) ?? ''
    return PLAIN_SQLSTATE.test(code) ? error.message : (DATA_EXCEPTIONS[code] ?? null)
  }
  if (error instanceof SyntaxError && error.message.startsWith('JSON Parse error')) return 'it is no JSON'
  return KNOWN.some((form) => form.test(error.message)) ? error.message : null
}

/** Which call of the system, which server, which of its answers. */
const PLACES: readonly (readonly [name: string, form: RegExp])[] = [
  ['syscall', /^[a-z_]{1,20}$/],
  ['address', /^[0-9a-f.:]{2,45}$/],
  ['port', /^\d{1,5}$/],
  ['status', /^\d{3}$/],
  ['httpStatus', /^\d{3}$/],
  ['routine', WORD],
]

/** An error by itself, without what caused it. */
function told(error: unknown): string {
  if (!(error instanceof Error)) return `a thrown ${typeof error}`
  const sentence = sentenceOf(error)
  if (error instanceof LoggableError) return error.message
  const places = PLACES.flatMap(([name, form]) => {
    const value = plain(error, name, form)
    return value === null ? [] : [`${name} ${value}`]
  })
  const type = [typeOf(error), codeOf(error), ...places].filter((part) => part !== null).join(' ')
  return sentence === null ? type : `${type}: ${sentence}`
}

/** An error and what caused it, outermost first. */
function chainOf(error: unknown, depth = 0): unknown[] {
  if (!(error instanceof Error) || depth === DEEPEST) return [error]
  const { cause, chainedError, lastNodeError } = error as Error & Record<string, unknown>
  const members = error instanceof AggregateError ? (error.errors as unknown[]).slice(0, MEMBERS) : []
  const causes = [cause ?? chainedError ?? lastNodeError, ...members].filter((one) => one !== undefined)
  return [error, ...causes.flatMap((one) => chainOf(one, depth + 1))]
}

/** Where it was thrown: the frames alone, because the lines before them repeat the message. */
function framesOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || typeof error.stack !== 'string') return undefined
  // A message of several lines may itself look like frames.
  const at = error.stack.indexOf(error.message)
  const rest = at < 0 ? error.stack : error.stack.slice(at + error.message.length)
  const frames = rest
    .split('\n')
    .filter((line) => /^ +at (.+ \()?[^()]*(:\d+:\d+|native|unknown)\)?$/.test(line))
  return frames.length === 0 ? undefined : frames.join('\n')
}

/** What went wrong, and why, in one line that holds no value of anybody's. */
export const describeError = (error: unknown): string =>
  chainOf(error)
    .map(told)
    .filter((line, i, lines) => lines.indexOf(line) === i)
    .join(' ← ')

/**
 * An error as fields of a log line: what it is, what caused it and where it was thrown. Only what is on a list of
 * harmless things is told: types, codes, statuses, places, and messages that are known to quote nothing.
 */
export function errorFields(error: unknown): Record<string, unknown> {
  const first = chainOf(error).find((one) => framesOf(one) !== undefined)
  return {
    error: describeError(error),
    error_type: error instanceof Error ? typeOf(error) : typeof error,
    stack: framesOf(first),
  }
}

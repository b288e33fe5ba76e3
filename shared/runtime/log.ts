/**
 * JSON log lines on stdout: one object per line, named levels, no secrets and no personal data. An error anywhere in
 * the fields is written as its `errorFields`.
 */

type LogLevel = 'debug' | 'info' | 'warn' | 'error'
type LogFields = Record<string, unknown>

export interface Log {
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** A log that adds these fields to each line. */
  with(fields: LogFields): Log
}

/** Characters that JSON does not escape, but that control a terminal: cursor movement, line breaks, text direction. */
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff]/g
const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Replaces an error before JSON reads its `toJSON` or its enumerable properties, which contain query parameters. */
function withoutValues(this: Record<string, unknown>, name: string, written: unknown): unknown {
  const value = this[name]
  return value instanceof Error ? errorFields(value) : written
}

/**
 * A log that writes JSON lines.
 * @param write receives each finished line
 */
export function createLog(
  fields: LogFields = {},
  write: (line: string) => void = (line) => void process.stdout.write(`${line}\n`),
): Log {
  const line = (level: LogLevel, message: string, more: LogFields = {}) =>
    write(
      JSON.stringify(
        { at: new Date().toISOString(), level, message, ...fields, ...more },
        withoutValues,
      ).replaceAll(UNPRINTABLE, escaped),
    )
  return {
    info: (message, more) => line('info', message, more),
    warn: (message, more) => line('warn', message, more),
    error: (message, more) => line('error', message, more),
    with: (more) => createLog({ ...fields, ...more }, write),
  }
}

/**
 * An error whose message our own code wrote, without values from requests, rows or other programs. The messages of
 * all other errors are omitted, because drivers and the runtime quote such values.
 */
export class LoggableError extends Error {
  override name = 'LoggableError'
}

/** Maximum depth of causes, and maximum number of described members of an AggregateError. */
const MAX_DEPTH = 5
const MAX_MEMBERS = 3

/** SQLSTATE classes whose messages name tables, constraints and servers, but never a value. */
const PLAIN_SQLSTATE = /^(08|23|25|28|3D|40|42|53|54|55|57)...$/
/** Data exceptions: their own messages quote the value, so these replace them. */
const DATA_EXCEPTIONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '22001': 'a text is too long',
    '22003': 'a number is out of range',
    '22007': 'not a time',
    '22008': 'a time is out of range',
    '22021': 'a character that text cannot hold (0x00)',
    '22P02': 'not a value of its type, such as a text for a number',
    '22P05': 'a character that text cannot hold (0x00)',
  }),
)

/** Messages of libraries and of the runtime that are constant, or quote only source code. */
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

/** Returns a property that is an integer or text of this form; otherwise null. */
function plain(error: Error, name: string, form: RegExp): string | null {
  const value = Reflect.get(error, name) as unknown
  if (typeof value === 'string') return form.test(value) ? value : null
  return Number.isInteger(value) ? String(value) : null
}

const WORD = /^[A-Za-z_]\w{0,63}$/
/** The error's own name or that of its class: libraries often set only one of them. */
const typeOf = (error: Error): string =>
  [error.name, error.constructor.name].find((name) => name !== 'Error' && WORD.test(name)) ?? 'Error'

/** The error code of the system, the driver or Postgres; for Redis the first word of its reply. */
function codeOf(error: Error): string | null {
  const code = plain(error, 'code', /^[A-Za-z0-9][\w-]{1,63}$/)
  if (code !== null || typeOf(error) !== 'ReplyError') return code
  return /^[A-Z]{2,20}\b/.exec(error.message)?.[0] ?? null
}

/** The message if it is known to quote no values; otherwise null. */
function sentenceOf(error: Error): string | null {
  if (error instanceof LoggableError) return error.message
  if (typeOf(error) === 'PostgresError') {
    const code = codeOf(error) ?? ''
    return PLAIN_SQLSTATE.test(code) ? error.message : (DATA_EXCEPTIONS.get(code) ?? null)
  }
  if (error instanceof SyntaxError && error.message.startsWith('JSON Parse error')) return 'it is not JSON'
  return KNOWN.some((form) => form.test(error.message)) ? error.message : null
}

/** Properties that locate the error: system call, server, status. */
const PLACES: readonly (readonly [name: string, form: RegExp])[] = [
  ['syscall', /^[a-z_]{1,20}$/],
  ['address', /^[0-9a-f.:]{2,45}$/],
  ['port', /^\d{1,5}$/],
  ['status', /^\d{3}$/],
  ['httpStatus', /^\d{3}$/],
  ['routine', WORD],
]

/** Describes an error without its causes. */
function describeOne(error: unknown): string {
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

/** The error and its causes, outermost first. */
function chainOf(error: unknown, depth = 0): unknown[] {
  if (!(error instanceof Error) || depth === MAX_DEPTH) return [error]
  const { cause, chainedError, lastNodeError } = error as Error & Record<string, unknown>
  const members = error instanceof AggregateError ? (error.errors as unknown[]).slice(0, MAX_MEMBERS) : []
  const causes = [cause ?? chainedError ?? lastNodeError, ...members].filter((each) => each !== undefined)
  return [error, ...causes.flatMap((each) => chainOf(each, depth + 1))]
}

/** The stack frames, without the preceding lines, which repeat the message. */
function framesOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || typeof error.stack !== 'string') return undefined
  // A multi-line message may contain text that looks like frames.
  const at = error.stack.indexOf(error.message)
  const rest = at < 0 ? error.stack : error.stack.slice(at + error.message.length)
  const frames = rest
    .split('\n')
    .filter((line) => /^ +at (.+ \()?[^()]*(:\d+:\d+|native|unknown)\)?$/.test(line))
  return frames.length === 0 ? undefined : frames.join('\n')
}

/** Describes an error and its causes in one line, without personal data. */
export const describeError = (error: unknown): string =>
  chainOf(error)
    .map(describeOne)
    .filter((line, i, lines) => lines.indexOf(line) === i)
    .join(' ← ')

/**
 * Fields of a log line that describe an error, its causes and its stack. Only harmless parts are included: types,
 * codes, statuses, locations, and messages that are known to quote no values.
 */
export function errorFields(error: unknown): Record<string, unknown> {
  const first = chainOf(error).find((each) => framesOf(each) !== undefined)
  return {
    error: describeError(error),
    error_type: error instanceof Error ? typeOf(error) : typeof error,
    stack: framesOf(first),
  }
}

/**
 * JSON log lines on stdout: one object per line, named levels, no secrets and no personal data. An error anywhere in
 * the fields is written as its `errorFields`.
 */
import { errorFields } from './loggable-error.ts'

export { errorFields } from './loggable-error.ts'

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

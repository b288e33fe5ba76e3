/**
 * JSON log lines on stdout: one object a line, levels by name, no secrets and nothing of a person. An error is written
 * as `errorFields` tells it, wherever it stands among the fields.
 */
import { errorFields } from './loggable-error.ts'

export { errorFields } from './loggable-error.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export type LogFields = Record<string, unknown>

export interface Log {
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** A log whose lines all carry these fields too. */
  with(fields: LogFields): Log
}

/** Characters that JSON leaves as they are, and that move a terminal's cursor, break its lines or turn them round. */
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff]/g
const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Before an error's own `toJSON` or its enumerable properties, which hold a query's parameters, are looked at. */
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

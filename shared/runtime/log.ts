/** JSON log lines on stdout: one object a line, levels by name, no secrets. */

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export type LogFields = Record<string, unknown>

export interface Log {
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** A log whose lines all carry these fields too. */
  with(fields: LogFields): Log
}

/** An error as fields: its message, type and stack, without the values a driver hangs on it. */
export const errorFields = (error: unknown): LogFields =>
  error instanceof Error
    ? { error: error.message, error_type: error.name, stack: error.stack }
    : { error: String(error) }

/** Characters that JSON leaves as they are, and that move a terminal's cursor, break its lines or turn them round. */
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff]/g
const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

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
      JSON.stringify({ at: new Date().toISOString(), level, message, ...fields, ...more }).replaceAll(
        UNPRINTABLE,
        escaped,
      ),
    )
  return {
    info: (message, more) => line('info', message, more),
    warn: (message, more) => line('warn', message, more),
    error: (message, more) => line('error', message, more),
    with: (more) => createLog({ ...fields, ...more }, write),
  }
}

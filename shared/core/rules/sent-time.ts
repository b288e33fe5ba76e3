/** Parses the times that clients send, in three formats. */
import type { Calendar } from './calendar.ts'

const ISO = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|[+-]\d\d(?::?\d\d)?)$/i
const EXIF = /^(\d{4}):(\d\d):(\d\d) (\d\d):(\d\d):(\d\d)$/

/** Whether a date and time exist: `Date.UTC` moves 29 February of a common year into March. */
const exists = (year: number, month: number, day: number, hour: number, minute: number, second: number) => {
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second))
  return (
    // `Date.UTC` maps years below 100 to the twentieth century.
    date.getUTCFullYear() === year &&
    date.getUTCMonth() === month - 1 &&
    hour < 24 &&
    minute < 60 &&
    second < 60
  )
}

/** Bounds that every store can hold; a phone never means a time outside them. */
const MIN_MS = Date.UTC(1970, 0, 1)
const MAX_MS = Date.UTC(3000, 0, 1)

const inRange = (ms: number): number | null => (ms >= MIN_MS && ms < MAX_MS ? ms : null)

/**
 * Reads ISO 8601 with a zone, epoch milliseconds, or EXIF `YYYY:MM:DD HH:MM:SS` (in the event's zone).
 * @returns whole epoch milliseconds, or null for anything else (a time without a zone, a date that does not exist)
 */
export function parseSentTime(value: number | string, calendar: Calendar): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? inRange(Math.floor(value)) : null
  const written = parseWritten(value)
  if (written !== null) return inRange(written)
  if (ISO.test(value)) return parseIsoTime(value)
  const exif = EXIF.exec(value)?.slice(1).map(Number) as
    | [number, number, number, number, number, number]
    | undefined
  return exif !== undefined && exists(...exif) ? inRange(calendar.instant(...exif)) : null
}

/**
 * Whether a number, or its text, is epoch seconds of the years 2001 to 2286; as milliseconds it would be in early 1970.
 */
export const looksLikeSeconds = (value: number | string): boolean =>
  typeof value === 'number' ? value >= 1e9 && value < 1e10 : /^[1-9]\d{9}(\.\d+)?$/.test(value)

/** Reads only ISO 8601 with a zone. @returns whole epoch milliseconds, or null */
export function parseIsoTime(value: string): number | null {
  const iso = ISO.exec(value)
  return iso === null ? null : parseIso(iso)
}

const WRITTEN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/**
 * Parses the format of `Date.toJSON`, `2026-04-12T04:00:00.000Z`. Most times arrive in it, and reading the digits by
 * position is several times faster than the general expression.
 */
function parseWritten(value: string): number | null {
  if (value.length !== 24 || !WRITTEN.test(value)) return null
  const two = (at: number): number => 10 * value.charCodeAt(at) + value.charCodeAt(at + 1) - 528
  const year = 100 * two(0) + two(2)
  const [month, day, hour, minute, second] = [two(5), two(8), two(11), two(14), two(17)]
  // The general parser handles any other date, also one that does not exist.
  if (
    year < 1970 ||
    month < 1 ||
    month > 12 ||
    day < 1 ||
    day > 28 ||
    hour > 23 ||
    minute > 59 ||
    second > 59
  )
    return null
  const ms = 10 * two(20) + value.charCodeAt(22) - 48
  return Date.UTC(year, month - 1, day, hour, minute, second, ms)
}

function parseIso(match: RegExpExecArray): number | null {
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  if (!exists(year, month, day, hour, minute, second)) return null
  const ms = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3))
  const zone = match[8]!.toUpperCase()
  let offsetMinutes = 0
  if (zone !== 'Z') {
    const hours = Number(zone.slice(1, 3))
    const minutes = Number(zone.slice(3).replace(':', '') || 0)
    if (hours > 23 || minutes > 59) return null
    offsetMinutes = (zone[0] === '-' ? -1 : 1) * (hours * 60 + minutes)
  }
  return inRange(Date.UTC(year, month - 1, day, hour, minute, second, ms) - offsetMinutes * 60_000)
}

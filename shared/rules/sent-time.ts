/** The times that clients send, in the three forms that they use. */
import type { Calendar } from './calendar.ts'

const ISO = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|[+-]\d\d(?::?\d\d)?)$/i
const EXIF = /^(\d{4}):(\d\d):(\d\d) (\d\d):(\d\d):(\d\d)$/

/** Whether numbers name a time that a calendar has: 29 February in a common year is in another month. */
const exists = (year: number, month: number, day: number, hour: number, minute: number, second: number) => {
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second))
  return (
    // Years below 100 are taken for those of the twentieth century.
    date.getUTCFullYear() === year &&
    date.getUTCMonth() === month - 1 &&
    hour < 24 &&
    minute < 60 &&
    second < 60
  )
}

/** Years that every store can hold and that no phone means otherwise. */
const MIN_MS = Date.UTC(1970, 0, 1)
const MAX_MS = Date.UTC(3000, 0, 1)

const inRange = (ms: number): number | null => (ms >= MIN_MS && ms < MAX_MS ? ms : null)

/**
 * Reads ISO 8601 with a zone, epoch milliseconds, or EXIF `YYYY:MM:DD HH:MM:SS` (in the event's zone).
 * @returns whole epoch milliseconds, or null for anything else (a time without a zone, a day that no month has)
 */
export function parseSentTime(value: number | string, calendar: Calendar): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? inRange(Math.floor(value)) : null
  const written = parseWritten(value)
  if (written !== null) return inRange(written)
  const iso = ISO.exec(value)
  if (iso !== null) return parseIso(iso)
  const exif = EXIF.exec(value)?.slice(1).map(Number) as
    | [number, number, number, number, number, number]
    | undefined
  return exif !== undefined && exists(...exif) ? inRange(calendar.instant(...exif)) : null
}

/** The form in which computers write a time themselves, `2026-04-12T04:00:00.000Z`: most of all that comes. */
function parseWritten(value: string): number | null {
  if (value.length !== 24) return null
  const date = new Date(value)
  return !Number.isNaN(date.getTime()) && date.toISOString() === value ? date.getTime() : null
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

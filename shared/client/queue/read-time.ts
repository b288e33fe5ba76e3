/** Reads the times that apps record, by the rules of the service. */

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:Z|([+-])(\d\d)(?::?(\d\d))?)$/i
/** The service stores no time after this. */
const END_MS = Date.UTC(3000, 0, 1)

/**
 * Whole epoch milliseconds of an ISO 8601 time with a zone, of epoch milliseconds, or of a Date.
 * @returns NaN for anything else: a time without a zone, a day alone, a date that does not exist, before 1970
 */
export function readTime(given: unknown): number {
  const ms =
    typeof given === 'string'
      ? readIso(given)
      : typeof given === 'number' || given instanceof Date
        ? Math.floor(Number(given))
        : NaN
  return ms >= 0 && ms < END_MS ? ms : NaN
}

function readIso(text: string): number {
  const found = ISO.exec(text)
  if (found === null) return NaN
  const part = (i: number): number => Number(found[i] ?? 0)
  const ms = Number((found[7] ?? '').padEnd(3, '0').slice(0, 3))
  const utc = Date.UTC(part(1), part(2) - 1, part(3), part(4), part(5), part(6), ms)
  // 30 February would be 2 March, and the 60th second the next minute.
  const exists = new Date(utc).toISOString().startsWith(text.slice(0, 16).toUpperCase())
  if (!exists || part(9) > 23 || part(10) > 59) return NaN
  const offset = part(9) * 60 + part(10)
  return utc - (found[8] === '-' ? -offset : offset) * 60_000
}

/** The page's clock, and the formats of times and numbers. */
import { computed, signal } from '@preact/signals'
import { compactFormat, figure } from '#shared/locales/units.ts'
import { consoleLanguage, words } from './words.ts'

/** Lead of the service's clock over this device's, in milliseconds. */
export const aheadMs = signal(0)

/** Service time, epoch milliseconds, so that a wrong device clock affects no ages. */
export const serviceNow = (): number => Date.now() + aheadMs.peek()

/** The same, updated each second, for displayed ages. */
export const now = signal(serviceNow())
const tick = () => (now.value = serviceNow())
setInterval(tick, 1_000)

/** A response that took longer gives a less exact time than the one already known. */
const LONGEST_MS = 3_000
/** Uncertainty: the `Date` header has whole seconds, and the response was in transit. */
const UNSURE_MS = LONGEST_MS + 1_000
let isCompared = false

/** Compares the clocks using a response's `Date` header. @param tookMs duration of the request */
export function hear(sent: string | null, tookMs: number): void {
  const ahead = Date.parse(sent ?? '') - Date.now()
  if (Number.isNaN(ahead) || (isCompared && tookMs > LONGEST_MS)) return
  isCompared = true
  if (Math.abs(ahead - aheadMs.peek()) <= UNSURE_MS) return
  aheadMs.value = ahead
  tick()
}

/** IANA time zone of the event; this device's zone until it is known. */
export const timeZone = signal<string | undefined>(undefined)

const formats = computed(() => {
  const zone = timeZone.value === undefined ? {} : { timeZone: timeZone.value }
  const make = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(consoleLanguage.value, { ...zone, hourCycle: 'h23', ...options })
  return {
    second: make({ hour: '2-digit', minute: '2-digit', second: '2-digit' }),
    minute: make({ hour: '2-digit', minute: '2-digit' }),
    date: make({ month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' }),
    full: make({ dateStyle: 'medium', timeStyle: 'medium' }),
    day: new Intl.DateTimeFormat('sv-SE', zone),
    shortDay: make({ month: 'short', day: 'numeric' }),
    weekday: new Intl.DateTimeFormat(consoleLanguage.value, {
      timeZone: 'UTC',
      weekday: 'short',
      month: 'short',
      day: 'numeric',
    }),
    near: new Intl.RelativeTimeFormat(consoleLanguage.value, { numeric: 'auto' }),
    local: new Intl.DateTimeFormat('sv-SE', { ...zone, dateStyle: 'short', timeStyle: 'medium' }),
    short: compactFormat(consoleLanguage.value),
    ago: new Intl.RelativeTimeFormat(consoleLanguage.value, { numeric: 'always', style: 'short' }),
  }
})

type Instant = string | number

const dateOf = (at: Instant): Date => new Date(at)
/** `06:03:11` in the event's zone. */
export const clock = (at: Instant): string => formats.value.second.format(dateOf(at))
/** `06:03` */
export const minute = (at: Instant): string => formats.value.minute.format(dateOf(at))
/** `12 Apr, 06:03` */
export const date = (at: Instant): string => formats.value.date.format(dateOf(at))
export const fullDate = (at: Instant): string => formats.value.full.format(dateOf(at))
/** `12 Apr` */
export const shortDay = (at: Instant): string => formats.value.shortDay.format(dateOf(at))
/** `2026-04-12` in the event's zone. */
export const dayOf = (at: Instant): string => formats.value.day.format(dateOf(at))
/** `2026-04-12 06:03` in the event's zone, readable by both spreadsheets and people. */
export const localTime = (at: Instant): string => formats.value.local.format(dateOf(at)).slice(0, 16)
/** Local time of the event at an instant, expressed as if it were UTC, in epoch milliseconds. */
const localMs = (at: number): number => Date.parse(`${formats.value.local.format(at).replace(' ', 'T')}Z`)
const DAY_MS = 86_400_000
/** Changes once a day, so that day names are not rendered each second. */
const today = computed(() => dayOf(now.value))
const daysTo = (day: string): number => Math.round((Date.parse(day) - Date.parse(today.value)) / DAY_MS)
/** `Sun, 12 Apr`; also for print, where no day is "today". */
export const weekdayName = (day: string): string => formats.value.weekday.format(Date.parse(day))
/** `Sun, 12 Apr`, prefixed if it is today or yesterday. Takes and compares days of the event's zone. */
export function dayName(day: string): string {
  const name = weekdayName(day)
  const ahead = daysTo(day)
  return ahead === 0 || ahead === -1 ? `${name} · ${formats.value.near.format(ahead, 'day')}` : name
}
/** `today, Sun, 12 Apr`: a coming day, prefixed if it is today or tomorrow. */
export function comingDay(day: string): string {
  const name = weekdayName(day)
  const ahead = daysTo(day)
  return ahead === 0 || ahead === 1
    ? [formats.value.near.format(ahead, 'day'), name].join(words.value.common.comma)
    : name
}
/** The instant at which the event's local time is `2026-04-12T06:00`, as ISO 8601. */
export function instantOf(local: string): string {
  const shown = Date.parse(`${local}Z`)
  return new Date(2 * shown - localMs(shown)).toISOString()
}
/** `06:00` */
export const hourText = (hour: unknown): string => `${String(hour).padStart(2, '0')}:00`
/** `12.3K` from ten thousand. */
export const short = (value: number): string =>
  Math.abs(value) >= 10_000 ? formats.value.short.format(value) : figure(value)

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const

/** `80 min`, `23 hr`: in the largest unit that fits twice, since `1 hr` may be nearly two. */
export function duration(lengthMs: number): string {
  const [unit, ms] = UNITS.find(([, size]) => lengthMs >= 2 * size) ?? UNITS.at(-1)!
  return new Intl.NumberFormat(consoleLanguage.value, { style: 'unit', unit, unitDisplay: 'short' }).format(
    Math.floor(lengthMs / ms),
  )
}

/** `4 min ago`, from the page's clock. */
export function ago(at: Instant): string {
  const elapsed = Math.max(0, now.value - dateOf(at).getTime())
  const [unit, ms] = UNITS.find(([, size]) => elapsed >= size) ?? UNITS.at(-1)!
  return formats.value.ago.format(-Math.floor(elapsed / ms), unit)
}

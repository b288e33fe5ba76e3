/** Days and hours in the event's time zone. */

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

/** Offsets change on quarter hours only (IANA tz data: every zone since 2023), so each quarter hour has one offset. */
const QUARTER_MS = 900_000

/** Number of quarter hours (17 months) or days that are cached. */
const MEMORY = 50_000

export interface Calendar {
  /** Local day `YYYY-MM-DD` of an instant in epoch milliseconds. */
  day(ms: number): string
  /** First instant of the local hour of an instant, as epoch milliseconds; an hour that clocks repeat counts as two. */
  hourStart(ms: number): number
  /** First instant of the local day that contains an instant, as epoch milliseconds. */
  dayStart(ms: number): number
  /** First instant of a local day `YYYY-MM-DD` and of the day after it, as epoch milliseconds. */
  span(day: string): readonly [fromMs: number, toMs: number]
  /**
   * Epoch milliseconds of a wall-clock time in the zone. A time that occurs twice (clocks set back) is the first one. A
   * time that never occurs (clocks set forward) is read with the offset before the change.
   */
  instant(year: number, month: number, day: number, hour: number, minute: number, second: number): number
}

/**
 * A calendar for one IANA time zone.
 * @throws RangeError for a zone that does not exist
 */
export function createCalendar(timeZone: string): Calendar {
  const offsetAt = createOffsets(timeZone)
  const nameOf = remembering((day) => new Date(day * DAY_MS).toISOString().slice(0, 10))
  const localDay = (ms: number): number => Math.floor((ms + offsetAt(ms)) / DAY_MS)

  /** The instant of a local time that is encoded as if it were UTC. */
  const instantOf = (localMs: number): number => {
    const unset = localMs - offsetAt(localMs - DAY_MS)
    if (unset + offsetAt(unset) === localMs) return unset
    const set = localMs - offsetAt(localMs + DAY_MS)
    return set + offsetAt(set) === localMs ? set : unset
  }

  return {
    day: (ms) => nameOf(localDay(ms)),
    hourStart(ms) {
      const offset = offsetAt(ms)
      let start = Math.floor((ms + offset) / HOUR_MS) * HOUR_MS - offset
      // Clocks may change within an hour (Lord Howe Island, by half an hour): the hour then begins at the change.
      while (offsetAt(start) !== offset) start += QUARTER_MS
      return start
    },
    // If clocks skip midnight, the day begins at the first instant after the change.
    dayStart: (ms) => instantOf(localDay(ms) * DAY_MS),
    span(day) {
      const midnight = Date.parse(`${day}T00:00:00Z`)
      return [instantOf(midnight), instantOf(midnight + DAY_MS)]
    },
    instant: (year, month, day, hour, minute, second) =>
      instantOf(Date.UTC(year, month - 1, day, hour, minute, second)),
  }
}

/** Returns a function from an instant to the zone's offset from UTC, in milliseconds. */
function createOffsets(timeZone: string): (ms: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  const ofQuarter = remembering((quarter) => {
    const start = quarter * QUARTER_MS
    const parts = new Map(format.formatToParts(start).map(({ type, value }) => [type, Number(value)]))
    const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type)!
    const local = Date.UTC(
      part('year'),
      part('month') - 1,
      part('day'),
      part('hour'),
      part('minute'),
      part('second'),
    )
    return local - start
  })
  return (ms) => ofQuarter(Math.floor(ms / QUARTER_MS))
}

/** Caches the results of `find` for whole numbers. */
function remembering<T>(find: (key: number) => T): (key: number) => T {
  const known = new Map<number, T>()
  return (key) => {
    let value = known.get(key)
    if (value === undefined) {
      value = find(key)
      if (known.size >= MEMORY) known.clear()
      known.set(key, value)
    }
    return value
  }
}

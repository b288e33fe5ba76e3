/**
 * The totals of the event by hour, day and mode: a flush adds to them, an erasure moves a pilgrim's share to anonymous
 * totals, and a rebuild computes them again.
 */
import {
  addTotals,
  type DayChange,
  type ModeTotals,
  type Totals,
  zeroTotals,
} from '#shared/core/distance/points-to-distance.ts'

/** How a column is read, compared and written. */
export type Column = 'text' | 'day' | 'instant' | 'number' | 'whole'

/** A table of totals. Its rows are plain objects; their instants are epoch milliseconds. */
export interface Table {
  readonly name: string
  readonly key: readonly string[]
  readonly columns: Readonly<Record<string, Column>>
}

export type Row = Readonly<Record<string, string | number | null>>

export const SUMS = { points: 'whole', checkins: 'whole', distance_mm: 'whole', carbon_mg: 'whole' } as const

/** The tables of the event's totals, in lock order. */
export const EVENT_TABLES: readonly Table[] = [
  { name: 'event_hours', key: ['hour'], columns: { hour: 'instant', ...SUMS, pilgrims: 'whole' } },
  {
    name: 'event_modes',
    key: ['day', 'mode'],
    columns: { day: 'day', mode: 'text', distance_mm: 'whole', carbon_mg: 'whole' },
  },
  { name: 'event_days', key: ['day'], columns: { day: 'day', pilgrims: 'whole' } },
]

/** The columns of a row for sums. */
export const rowOf = ({ points, checkins, distanceMm, carbonMg }: Totals) => ({
  points,
  checkins,
  distance_mm: distanceMm,
  carbon_mg: carbonMg,
})

const HOUR_MS = 3_600_000

/** The hours of a day with new points: bit n is set for the n-th hour after its start. */
export function hoursOf({ delta }: DayChange, startMs: number): number {
  let hours = 0
  for (const [hour, { points }] of delta.hours)
    if (points > 0) hours |= 1 << Math.round((hour - startMs) / HOUR_MS)
  return hours
}

/** Sums in memory. The size is bounded by the event's hours, days and modes. */
export class EventTotals {
  readonly #hours = new Map<number, Totals & { pilgrims: number }>()
  readonly #days = new Map<string, number>()
  readonly #modes = new Map<string, ModeTotals & { readonly day: string; readonly mode: string }>()

  addHour(hour: number, sums: Totals, pilgrims: number): void {
    const totals = this.#hours.getOrInsertComputed(hour, () => ({ ...zeroTotals(), pilgrims: 0 }))
    addTotals(totals, sums)
    totals.pilgrims += pilgrims
  }

  addDay(day: string, pilgrims: number): void {
    this.#days.set(day, (this.#days.get(day) ?? 0) + pilgrims)
  }

  addMode(day: string, mode: string, { distanceMm, carbonMg }: ModeTotals): void {
    const zero = () => ({ day, mode, distanceMm: 0, carbonMg: 0 })
    const totals = this.#modes.getOrInsertComputed(`${day} ${mode}`, zero)
    totals.distanceMm += distanceMm
    totals.carbonMg += carbonMg
  }

  /** Adds all days of one pilgrim. */
  addPilgrim(days: readonly DayChange[]): void {
    for (const { day, delta } of days) {
      this.addDay(day, 1)
      for (const [hour, sums] of delta.hours) this.addHour(hour, sums, sums.points > 0 ? 1 : 0)
      for (const [mode, sums] of delta.modes) this.addMode(day, mode, sums)
    }
  }

  /** The rows of each table, in the order of `EVENT_TABLES`. */
  rows(): readonly (readonly Row[])[] {
    return [
      Array.from(this.#hours, ([hour, { pilgrims, ...sums }]) => ({ hour, ...rowOf(sums), pilgrims })),
      Array.from(this.#modes.values(), ({ day, mode, distanceMm, carbonMg }) => ({
        day,
        mode,
        distance_mm: distanceMm,
        carbon_mg: carbonMg,
      })),
      Array.from(this.#days, ([day, pilgrims]) => ({ day, pilgrims })),
    ]
  }

  /**
   * The statements that add these sums to the stored ones.
   * @param prefix of the tables
   * @returns the rows of each table that has any, as JSON, with the statement that adds them
   */
  additions(prefix: 'event' | 'erased') {
    return this.rows().flatMap((rows, i) => {
      if (rows.length === 0) return []
      const table = { ...EVENT_TABLES[i]!, name: EVENT_TABLES[i]!.name.replace('event', prefix) }
      return [{ rows: JSON.stringify(rows), statement: upsertOf(table, (column) => `t.${column} + `) }]
    })
  }
}

/** The types of columns in JSON. */
export const JSON_TYPE = {
  text: 'text',
  day: 'date',
  instant: 'float8',
  number: 'float8',
  whole: 'bigint',
} as const satisfies Record<Column, string>

/**
 * A statement that inserts rows in the order of their key, or updates existing ones.
 * @param before what precedes the new value of a column
 * @returns its text before and after the rows, which are a parameter
 */
export function upsertOf(
  { name, key, columns }: Table,
  before: (column: string) => string = () => '',
): readonly [string, string] {
  const named = Object.entries(columns)
  const names = named.map(([column]) => column)
  const values = named.map(([column, type]) => (type === 'instant' ? `from_epoch_ms(${column})` : column))
  const types = named.map(([column, type]) => `${column} ${JSON_TYPE[type]}`)
  const changed = names.filter((column) => !key.includes(column))
  return [
    `INSERT INTO ${name} AS t (${names.join(', ')}) SELECT ${values.join(', ')} FROM jsonb_to_recordset(`,
    `::text::jsonb) AS r (${types.join(', ')}) ORDER BY ${key.join(', ')}
     ON CONFLICT (${key.join(', ')}) DO UPDATE SET
       ${changed.map((column) => `${column} = ${before(column)}excluded.${column}`).join(', ')}`,
  ]
}

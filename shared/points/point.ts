/** A point: its type, its identity, its packed form in the buffer, and its columns in the table. */
import type { FoldPoint, PointKind } from '#shared/core/distance/points-to-distance.ts'
import { type GpsPoint, isNumeric, type Measurement, MEASUREMENTS } from '#shared/contracts/gps-points.ts'
import type { Column } from '#shared/stores/db/db.ts'
import { type Entry, readStamp } from '#shared/stores/kv/kv.ts'
import { isRough } from '#shared/core/rules/geo.ts'
import { LoggableError } from '#shared/runtime/log.ts'

type Measurements = { readonly [M in Measurement]: NonNullable<GpsPoint[M]> | null }

/** An accepted point. Times are epoch milliseconds. */
export interface Point extends Measurements {
  readonly kind: PointKind
  /**
   * The time the client sent; without one the time of receipt, or the next free instant after it. User, kind and this
   * time identify the point.
   */
  readonly sentMs: number
  /** The time at which the point counts. */
  readonly recordedMs: number
  /** By the clock of the replica that took it: it orders the requests of two replicas only roughly. */
  readonly receivedMs: number
  readonly lat: number
  readonly lng: number
  readonly inRange: boolean
}

/** A point that was read from the buffer. */
export interface BufferedPoint extends Point {
  /** How often its pilgrim had been erased when it was admitted. The kv adds it. */
  readonly generation: number
}

type PointColumn = Column<{ readonly userId: string; readonly point: Point }>

/** The columns of `gps_points`. */
export const POINT_COLUMNS: readonly PointColumn[] = [
  { name: 'user_id', type: 'text', of: ({ userId }) => userId },
  { name: 'kind', type: 'text', of: ({ point }) => point.kind },
  { name: 'sent_at', type: 'instant', of: ({ point }) => point.sentMs },
  { name: 'recorded_at', type: 'instant', of: ({ point }) => point.recordedMs },
  { name: 'received_at', type: 'instant', of: ({ point }) => point.receivedMs },
  { name: 'lat', type: 'float8', of: ({ point }) => point.lat },
  { name: 'lng', type: 'float8', of: ({ point }) => point.lng },
  ...MEASUREMENTS.map((name): PointColumn => ({
    name,
    type: isNumeric(name) ? 'float4' : 'text',
    of: ({ point }) => point[name],
  })),
  { name: 'in_range', type: 'boolean', of: ({ point }) => point.inRange },
  { name: 'clock_corrected', type: 'boolean', of: ({ point }) => point.recordedMs !== point.sentMs },
]

/** The fields of a point that the fold reads. */
export const foldPointOf = (point: Point): FoldPoint => ({
  kind: point.kind,
  sentMs: point.sentMs,
  t: point.recordedMs,
  lat: point.lat,
  lng: point.lng,
  mode: point.mode,
  rough: isRough(point),
})

/** Identity within a pilgrim's buffer. */
export const fieldOf = (point: Pick<Point, 'kind' | 'sentMs'>): string => `${point.kind}${point.sentMs}`

/** Packs a point as a compact JSON array without trailing absent fields. The kv reads the first five by position. */
export function pack(point: Point): Entry {
  const { recordedMs, sentMs, receivedMs, lat, lng, inRange } = point
  // For finite numbers a template writes the same text as JSON.stringify, several times faster.
  let value = `[${recordedMs - sentMs},${receivedMs},${lat},${lng},${inRange ? 1 : 0}`
  let present = MEASUREMENTS.length
  while (present > 0 && point[MEASUREMENTS[present - 1]!] === null) present--
  for (let i = 0; i < present; i++) {
    const measured = point[MEASUREMENTS[i]!]
    value += typeof measured === 'string' ? `,${JSON.stringify(measured)}` : `,${measured ?? 'null'}`
  }
  return { field: fieldOf(point), value: `${value}]` }
}

/**
 * Unpacks an entry of the buffer.
 * @throws SyntaxError or LoggableError for an entry that `pack` did not write
 */
export function unpack({ field, value: stamped }: Entry): BufferedPoint {
  const { generation, value } = readStamp(stamped)
  const kind = field[0]
  const sentMs = Number(field.slice(1))
  const packed = JSON.parse(value)
  if ((kind !== 'c' && kind !== 't') || !Number.isSafeInteger(sentMs) || !Array.isArray(packed))
    throw new LoggableError('not a buffered point: it needs an identity and a list')
  for (let i = 0; i < 5; i++)
    if (typeof packed[i] !== 'number')
      throw new LoggableError('not a buffered point: its list must begin with five numbers')
  const [offset, receivedMs, lat, lng, inRange, accuracy, altitude, speed, mode, source] = packed
  return {
    kind,
    sentMs,
    recordedMs: sentMs + offset,
    receivedMs,
    lat,
    lng,
    inRange: inRange === 1,
    accuracy: accuracy ?? null,
    altitude: altitude ?? null,
    speed: speed ?? null,
    mode: mode ?? null,
    source: source ?? null,
    generation,
  }
}

/** The points of entries. Those that cannot be unpacked are left out: the flush makes them dead letters. */
export const readablePoints = (entries: readonly Entry[]): BufferedPoint[] =>
  entries.flatMap((entry) => {
    try {
      return [unpack(entry)]
    } catch {
      return []
    }
  })

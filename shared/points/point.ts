/** A point between the request and the table: its identity, and its packed form in the buffer. */
import type { FoldPoint, PointKind } from '#shared/core/distance/points-to-distance.ts'
import type { Entry } from '#shared/stores/kv/kv.ts'
import { readStamp } from '#shared/stores/kv/packed-point.ts'
import { isRough } from '#shared/core/rules/geo.ts'
import { LoggableError } from '#shared/runtime/log.ts'

/** An accepted point. Times are epoch milliseconds. */
export interface Point {
  readonly kind: PointKind
  /**
   * The time that the client sent; without one the time of receipt, or the next free instant after it. User, kind and
   * this time identify the point.
   */
  readonly sentMs: number
  /** The time at which the point counts. */
  readonly recordedMs: number
  readonly receivedMs: number
  readonly lat: number
  readonly lng: number
  readonly accuracy: number | null
  readonly altitude: number | null
  readonly speed: number | null
  readonly mode: string | null
  readonly source: string | null
  readonly inRange: boolean
}

/** A point that was read from the buffer. */
export interface BufferedPoint extends Point {
  /** How often its pilgrim had been erased when it was admitted. The kv adds it. */
  readonly generation: number
}

/** What the fold reads of a point. */
export const foldPointOf = ({ kind, sentMs, recordedMs, lat, lng, mode, accuracy }: Point): FoldPoint => ({
  kind,
  sentMs,
  t: recordedMs,
  lat,
  lng,
  mode,
  rough: isRough(accuracy),
})

/** Identity within a pilgrim's buffer. */
export const fieldOf = (point: Pick<Point, 'kind' | 'sentMs'>): string => `${point.kind}${point.sentMs}`

/** The kv reads the time of receipt by its position. */
type Packed = [
  recordedOffset: number,
  receivedMs: number,
  lat: number,
  lng: number,
  inRange: 0 | 1,
  accuracy?: number | null,
  altitude?: number | null,
  speed?: number | null,
  mode?: string | null,
  source?: string | null,
]

/** Packs a point as a compact JSON array without trailing absent fields. */
export function pack(point: Point): Entry {
  const { recordedMs, sentMs, receivedMs, lat, lng, inRange, accuracy, altitude, speed, mode, source } = point
  // For finite numbers a template writes the same text as JSON.stringify, several times faster.
  let value = `[${recordedMs - sentMs},${receivedMs},${lat},${lng},${inRange ? 1 : 0}`
  if (source !== null || mode !== null) value += `,${accuracy},${altitude},${speed},${JSON.stringify(mode)}`
  else if (speed !== null) value += `,${accuracy},${altitude},${speed}`
  else if (altitude !== null) value += `,${accuracy},${altitude}`
  else if (accuracy !== null) value += `,${accuracy}`
  if (source !== null) value += `,${JSON.stringify(source)}`
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
  const packed = JSON.parse(value) as Packed
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

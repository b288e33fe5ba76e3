/**
 * What a recorded file would add to the pilgrim's walk. The file is read on the device, before anything is
 * sent.
 */
import { fold, MIN_ELAPSED_MS, START } from '#shared/core/distance/points-to-distance.ts'
import {
  type LeftOut,
  readRecordedFile,
  type RecordedFileFault,
  type RecordedPoint,
} from '#shared/core/recorded-file/read-recorded-file.ts'
import { isRough } from '#shared/core/rules/geo.ts'
import { roundKm } from '#shared/core/rules/rounding.ts'
import type { TimedPoint } from '../session/unstored-points.ts'
import type { DrawnWay } from '../way/way-shapes.ts'

/** The service accepts points up to this far ahead of its clock (`contracts/tracking.ts`). */
const AHEAD_MS = 300_000

export interface RecordedWalk {
  readonly ok: true
  /** The points to send: only those that the fold uses. */
  readonly points: readonly TimedPoint[]
  readonly way: DrawnWay
  readonly km: number
  /** Kilometres by vehicle, included in `km`. */
  readonly rideKm: number
  /** Epoch milliseconds of the first and the last point. */
  readonly from: number
  readonly to: number
  readonly leftOut: LeftOut & { readonly rough: number }
}

export type RecordedWalkFault = RecordedFileFault | { readonly ok: false; readonly code: 'rough' }

/**
 * Reads the part of a recorded file that the service would accept.
 * @param nowMs service time, epoch milliseconds
 * @param maxAgeMs older points are rejected
 */
export async function readRecordedWalk(
  file: Uint8Array,
  nowMs: number,
  maxAgeMs: number,
): Promise<RecordedWalk | RecordedWalkFault> {
  const read = await readRecordedFile(file, { from: nowMs - maxAgeMs, to: nowMs + AHEAD_MS })
  if (!read.ok) return read
  const exact = read.points.filter((point) => !isRough(point))
  if (exact.length === 0) return { ok: false, code: 'rough' }
  const points = thinned(exact)
  return {
    ok: true,
    points: points.map(({ lat, lng, t, altitude, accuracy }) => ({
      lat,
      lng,
      timestamp: t,
      ...(altitude === null ? {} : { altitude }),
      ...(accuracy === null ? {} : { accuracy }),
      source: 'file',
    })),
    ...measured(points),
    from: points[0]!.t,
    to: points.at(-1)!.t,
    leftOut: { ...read.leftOut, rough: read.points.length - exact.length },
  }
}

/**
 * Drops points that the fold skips as too close in time: the distance stays the same to the millimetre, and a
 * track with one point per second shrinks to a thirtieth. The same file yields the same points, so adding it
 * again adds nothing.
 */
function thinned(points: readonly RecordedPoint[]): RecordedPoint[] {
  let lastMs = -Infinity
  return points.filter(({ t }) => {
    if (t - lastMs < MIN_ELAPSED_MS) return false
    lastMs = t
    return true
  })
}

function measured(points: readonly RecordedPoint[]): Pick<RecordedWalk, 'way' | 'km' | 'rideKm'> {
  const isoOf = (ms: number): string => new Date(ms).toISOString()
  const before = new Map(points.map(({ t }, i) => [t, points[i - 1]?.t ?? t]))
  const stretches: DrawnWay['stretches'][number][] = []
  let [allMm, rideMm] = [0, 0]
  const folded = points.map(({ lat, lng, t }) => ({
    lat,
    lng,
    t,
    kind: 't' as const,
    sentMs: t,
    mode: null,
    rough: false,
  }))
  fold(START, folded, ({ t, distanceMm, carbonMg }) => {
    allMm += distanceMm
    if (carbonMg === 0) return
    rideMm += distanceMm
    stretches.push({ from: isoOf(before.get(t)!), to: isoOf(t), carbon_kg: carbonMg / 1e6 })
  })
  const line = points.map(({ lat, lng, t }) => ({ lat, lng, t: isoOf(t) }))
  return { way: { line, stretches, checkins: [] }, km: roundKm(allMm), rideKm: roundKm(rideMm) }
}

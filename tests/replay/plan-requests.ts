/** Plans the requests that a phone would send for a recording. */
import { time, type Time } from '#shared/contracts/fields.ts'
import type { Recording, TrackPoint } from './gpx.ts'
import { createRandom, shuffled } from '#tests/helpers/random.ts'
import { ReplayFault } from './replay-error.ts'
import type { Options } from './options.ts'

/** The size limit of a POST body. */
export const MAX_BODY_BYTES = 102_400

/** Seconds between two batches of a paced replay: six per minute, below the limit of ten. */
const PACED_BATCH_S = 10

/** A point in a request. `source` distinguishes a replay from a phone. */
export interface SentPoint {
  readonly lat: number
  readonly lng: number
  readonly timestamp: Time
  readonly altitude?: number
  readonly source: 'replay'
}

/** One request; `dueMs` after the start of a paced replay, otherwise 0. */
export type Step =
  | {
      readonly kind: 'check-in'
      readonly body: SentPoint & { readonly user_id: string }
      readonly dueMs: number
    }
  | { readonly kind: 'sync'; readonly body: SyncBody; readonly dueMs: number }

export interface SyncBody {
  readonly user_id: string
  readonly points: readonly SentPoint[]
}

export interface Plan {
  readonly steps: readonly Step[]
  /** Number of track points in all steps, including repetitions. */
  readonly points: number
  /** End of the whole track, epoch milliseconds; the other half, or another attempt, needs the same. */
  readonly endMs: number
}

type Choices = Pick<Options, 'user' | 'end' | 'speed' | 'half' | 'seed' | 'repeat' | 'batch'>

/**
 * Plans a replay. The track is moved before it is halved, so that two halves with the same end are the whole.
 * @param nowMs start of the replay, epoch milliseconds
 * @throws ReplayFault if the chosen half is empty
 */
export function planReplay(recording: Recording, choices: Choices, nowMs: number): Plan {
  const recorded = half(recording.points, choices.half)
  const [first] = recorded
  if (first === undefined) throw new ReplayFault(`Half ${choices.half} of a track of one point is empty.`)
  const endMs = endOf(recording.points.at(-1)!, first, choices, nowMs)
  const shiftMs = endMs - recording.points.at(-1)!.t
  const points = recorded.map((point) => ({ ...point, t: point.t + shiftMs }))
  const due = (t: number): number => (choices.speed === null ? 0 : (t - points[0]!.t) / choices.speed)
  const random = choices.seed === null ? null : createRandom(choices.seed)

  const pass = (): Step[] => {
    const order = random === null ? points : shuffled(points, random)
    const maxSpanMs = choices.speed === null ? Infinity : PACED_BATCH_S * 1_000 * choices.speed
    const syncs = batches(choices.user, order, { maxPoints: choices.batch, maxSpanMs }).map(
      (batch): Step => ({
        kind: 'sync',
        body: { user_id: choices.user, points: batch.map(asSent) },
        dueMs: due(batch.at(-1)!.t),
      }),
    )
    if (choices.half === 2) return syncs
    return [{ kind: 'check-in', body: { user_id: choices.user, ...asSent(points[0]!) }, dueMs: 0 }, ...syncs]
  }
  const steps = choices.repeat ? [...pass(), ...pass()] : pass()
  return { steps, points: points.length * (choices.repeat ? 2 : 1), endMs }
}

/** A paced replay ends when its last point is sent: at real time each point then carries the time of sending. */
function endOf(last: TrackPoint, first: TrackPoint, { end, speed }: Choices, nowMs: number): number {
  if (end === 'recorded') return last.t
  if (end !== 'now') return end
  return Math.round(speed === null ? nowMs : nowMs + (last.t - first.t) / speed)
}

/** The first half has the middle point. */
export function half<T>(points: readonly T[], which: 1 | 2 | null): readonly T[] {
  const middle = Math.ceil(points.length / 2)
  return which === null ? points : which === 1 ? points.slice(0, middle) : points.slice(middle)
}

function asSent({ lat, lng, t, altitude }: TrackPoint): SentPoint {
  return { lat, lng, timestamp: time(t), ...(altitude === null ? {} : { altitude }), source: 'replay' }
}

/** Splits points in their order into batches, limited by count, time span and body size. */
export function batches(
  user: string,
  points: readonly TrackPoint[],
  { maxPoints, maxSpanMs = Infinity }: { readonly maxPoints: number; readonly maxSpanMs?: number },
): TrackPoint[][] {
  const envelope = JSON.stringify({ user_id: user, points: [] }).length
  const cut: TrackPoint[][] = []
  let batch: TrackPoint[] = []
  let bytes = envelope
  for (const point of points) {
    // Ids, numbers and times are ASCII, so the length is in bytes; one more for the comma.
    const size = JSON.stringify(asSent(point)).length + 1
    const full = batch.length >= maxPoints || bytes + size > MAX_BODY_BYTES
    if (batch.length > 0 && (full || point.t - batch[0]!.t > maxSpanMs)) {
      cut.push(batch)
      batch = []
      bytes = envelope
    }
    batch.push(point)
    bytes += size
  }
  if (batch.length > 0) cut.push(batch)
  return cut
}

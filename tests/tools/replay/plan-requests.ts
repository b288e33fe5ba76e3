/** Plans the requests that a phone would send for a recording. */
import { time, type Time } from '#shared/contracts/fields.ts'
import type { RecordedFile, RecordedPoint } from '#shared/core/recorded-file/read-recorded-file.ts'
import { shuffled } from '#tests/helpers/random.ts'
import type { Options } from './options.ts'
import { ReplayFault } from './phone.ts'

/** Maximum number of points per request. Even with all possible digits they are below the body limit. */
const BATCH = 500
/** Seconds between two batches of a paced replay: six per minute, below the limit of ten. */
const PACED_BATCH_S = 10

/** A point in a request. `source` distinguishes a replay from a phone. */
interface SentPoint {
  readonly lat: number
  readonly lng: number
  readonly timestamp: Time
  readonly altitude?: number
  readonly accuracy?: number
  readonly source: 'replay'
}

/** One request; `dueMs` after the start of a paced replay, otherwise 0. */
export type Step = { readonly dueMs: number } & (
  | { readonly kind: 'check-in'; readonly body: SentPoint & { readonly user_id: string } }
  | { readonly kind: 'sync'; readonly body: { readonly user_id: string; readonly points: SentPoint[] } }
)

export interface Plan {
  readonly steps: readonly Step[]
  /** Number of track points in all steps, including repetitions. */
  readonly points: number
  /** End of the whole track, epoch milliseconds; the other half, or another attempt, needs the same end. */
  readonly endMs: number
}

type Choices = Pick<Options, 'user' | 'end' | 'speed' | 'half' | 'shuffle' | 'repeat'>

/**
 * Plans a replay. The track is shifted in time before it is halved, so that two halves with the same end form
 * the whole.
 * @param nowMs start of the replay, epoch milliseconds
 * @throws ReplayFault if the chosen half is empty
 */
export function planReplay({ points: all }: RecordedFile, choices: Choices, nowMs: number): Plan {
  const { user: user_id, half, speed, shuffle, repeat } = choices
  // The first half has the middle point.
  const middle = Math.ceil(all.length / 2)
  const recorded = half === null ? all : half === 1 ? all.slice(0, middle) : all.slice(middle)
  const [first] = recorded
  if (first === undefined) throw new ReplayFault(`Half ${half} of a track of one point is empty.`)
  const endMs = endOf(all.at(-1)!, first, choices, nowMs)
  const shiftMs = endMs - all.at(-1)!.t
  const points = recorded.map((point) => ({ ...point, t: point.t + shiftMs }))
  const due = (t: number): number => (speed === null ? 0 : (t - points[0]!.t) / speed)
  const maxSpanMs = speed === null ? Infinity : PACED_BATCH_S * 1_000 * speed

  const pass = (): Step[] => {
    const order = shuffle ? shuffled(points, Math.random) : points
    const syncs = batches(order, maxSpanMs).map((batch): Step => ({
      kind: 'sync',
      body: { user_id, points: batch.map(asSent) },
      dueMs: due(batch.at(-1)!.t),
    }))
    if (half === 2) return syncs
    return [{ kind: 'check-in', body: { user_id, ...asSent(points[0]!) }, dueMs: 0 }, ...syncs]
  }
  const steps = repeat ? [...pass(), ...pass()] : pass()
  return { steps, points: points.length * (repeat ? 2 : 1), endMs }
}

/**
 * A paced replay ends when its last point is sent: at real-time speed each point then has the time of its
 * sending.
 */
function endOf(last: RecordedPoint, first: RecordedPoint, { end, speed }: Choices, nowMs: number): number {
  if (end === 'recorded') return last.t
  if (end !== 'now') return end
  return Math.round(speed === null ? nowMs : nowMs + (last.t - first.t) / speed)
}

const asSent = ({ lat, lng, t, altitude, accuracy }: RecordedPoint): SentPoint => ({
  lat,
  lng,
  timestamp: time(t),
  ...(altitude === null ? {} : { altitude }),
  ...(accuracy === null ? {} : { accuracy }),
  source: 'replay',
})

/** Splits points in order, by number and by time span. */
function batches(points: readonly RecordedPoint[], maxSpanMs: number): RecordedPoint[][] {
  const cut: RecordedPoint[][] = []
  for (const point of points) {
    const batch = cut.at(-1)
    if (batch === undefined || batch.length === BATCH || point.t - batch[0]!.t > maxSpanMs) cut.push([point])
    else batch.push(point)
  }
  return cut
}

/** When the crowd's actions are sent: simulated time compared with the service's time. */
import { DAY_S, HOUR_S, WALK_S } from './procession.ts'

export interface Timetable {
  /** Epoch milliseconds of the departure. */
  readonly departureMs: number
  /** Actions before this time (seconds since the departure) are sent at once; later ones at the speed. */
  readonly fromS: number
  readonly speed: number
}

/** Midnight in Taiwan: the crowd sleeps at night. */
const ZONE_MS = 8 * HOUR_S * 1_000
const DAY_MS = DAY_S * 1_000

/** The two possible starts on the seventh day: one of them was 5 to 23 hours ago, at any time of day. */
const BEGINNINGS_S = [6 * DAY_S + 5 * HOUR_S, 6 * DAY_S + 12 * HOUR_S] as const
const AGO_MS = { least: 5 * HOUR_S * 1_000, most: 23 * HOUR_S * 1_000 }

/**
 * Without a speed, the crowd reaches the present after this time; it is never slower than the minimum speed.
 */
const CATCH_UP_S = 60
const LEAST_SPEED = 60

/** The latest time before `nowMs` with the same time of day as a simulated time. */
function latest(ofS: number, nowMs: number): number {
  const hourMs = (ofS * 1_000) % DAY_MS
  return nowMs - ((((nowMs + ZONE_MS - hourMs) % DAY_MS) + DAY_MS) % DAY_MS)
}

/**
 * Chooses the timetable. Simulated time is always behind the service's clock, because nobody can be in
 * tomorrow's place; when it has caught up, the crowd walks on in real time.
 * @param speed multiple of real time; `null`: fast enough that the crowd soon reaches the present
 * @param from hours since the departure; `null`: the seventh day, so that all levels exist; `'whole'`: the
 *   whole walk is in the past
 */
export function chooseTimetable(
  from: number | 'whole' | null,
  speed: number | null,
  nowMs: number,
): Timetable {
  const { departureMs, fromS } = beginningOf(from, nowMs)
  const behindS = (nowMs - departureMs) / 1_000 - fromS
  return { departureMs, fromS, speed: speed ?? Math.max(LEAST_SPEED, behindS / CATCH_UP_S) }
}

function beginningOf(from: number | 'whole' | null, nowMs: number): Omit<Timetable, 'speed'> {
  if (from === 'whole') {
    const departureMs = latest(0, nowMs - (WALK_S + 12 * HOUR_S) * 1_000)
    return { departureMs, fromS: 0 }
  }
  if (from !== null) {
    const fromS = from * HOUR_S
    return { departureMs: latest(fromS, nowMs - 2 * HOUR_S * 1_000) - fromS * 1_000, fromS }
  }
  const [fromS, beganMs] = BEGINNINGS_S.map((ofS) => [ofS, latest(ofS, nowMs)] as const)
    .filter(([, at]) => nowMs - at >= AGO_MS.least && nowMs - at <= AGO_MS.most)
    .sort(([, a], [, b]) => a - b)[0]!
  return { departureMs: beganMs - fromS * 1_000, fromS }
}

/** When an action is sent: epoch milliseconds; the demo began at `beganMs`. */
export const dueMs = ({ departureMs, fromS, speed }: Timetable, atS: number, beganMs: number): number =>
  atS <= fromS
    ? beganMs
    : Math.max(beganMs + ((atS - fromS) / speed) * 1_000, departureMs + Math.ceil(atS * 1_000))

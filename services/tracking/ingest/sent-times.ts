/**
 * Corrects the times of a request: those of a GPS week rollover, and those of a phone whose clock is fast.
 *
 * A point in the future has one of two causes. A single wrong fix must not block the queue behind it, and its place may
 * be old. A fast clock dates every point ahead by about the same time; then each is live and counts at its receipt,
 * minus the time it waited. A fast clock is assumed once a second point of the tracker is as far ahead as the first.
 */
import type { GpsPoint } from '#shared/contracts/gps-points.ts'
import type { TrackerApp } from '#shared/contracts/trackers.ts'
import { type AcceptRules, TRACK_AHEAD_MS } from '#shared/points/accept.ts'
import { parseSentTime } from '#shared/core/rules/sent-time.ts'
import { withoutRollover } from '#shared/core/rules/week-rollover.ts'
import { isObject } from './sent-fields.ts'
import { IS_FORGETFUL } from './tracker-formats.ts'

/**
 * A point at most this far ahead is sent again, because its time comes soon. With a longer limit it would block the
 * queue.
 */
const RESEND_AHEAD_MS = 15 * 60_000

/** How far ahead a tracker's point was. */
export interface Ahead {
  readonly byMs: number
  readonly sentMs: number
}

/** Notes how far ahead a tracker's point was. @returns how fast its clock is (ms); null: not known */
export type NoteAhead = (keyHash: string, ahead: Ahead) => Promise<number | null>

interface CorrectedTimes {
  readonly points: readonly unknown[]
  /** Whether the app must send the request again, because a point's time comes soon. */
  readonly resend: boolean
  /** Whether a point was dated in the future. */
  readonly isAhead: boolean
}

/** @param noteAhead called for a point that is too far ahead to be sent again */
export async function correctTimes(
  app: TrackerApp,
  given: readonly unknown[],
  receivedMs: number,
  { calendar, maxAgeMs }: Pick<AcceptRules, 'calendar' | 'maxAgeMs'>,
  noteAhead: (ahead: Ahead) => Promise<number | null>,
): Promise<CorrectedTimes> {
  const latestMs = receivedMs + TRACK_AHEAD_MS
  const sent = given.map((point) => sentMsOf(point, calendar))
  const times = sent.map((ms) => (ms === null ? null : withoutRollover(ms, receivedMs - maxAgeMs, latestMs)))
  const ahead = times.filter((ms) => ms !== null && ms > latestMs) as number[]
  const newestMs = ahead.reduce((newest, ms) => Math.max(newest, ms), 0)
  const byMs = newestMs - receivedMs
  // A forgetful app does not send a point again, so even a small lead is noted.
  const resendMs = IS_FORGETFUL.has(app) ? 0 : RESEND_AHEAD_MS
  const clockMs = byMs > resendMs ? await noteAhead({ byMs, sentMs: newestMs }) : null
  const points = given.map((point, i) => {
    const ms = times[i]!
    if (ms === null || (ms <= latestMs && ms === sent[i])) return point
    return { ...(point as object), timestamp: clockMs !== null && ms > latestMs ? ms - clockMs : ms }
  })
  const isSoon = (ms: number) => IS_FORGETFUL.has(app) || ms <= receivedMs + RESEND_AHEAD_MS
  return { points, resend: clockMs === null && ahead.some(isSoon), isAhead: ahead.length > 0 }
}

/** The time of a point, epoch milliseconds; null: no readable time. */
export function sentMsOf(point: unknown, calendar: AcceptRules['calendar']): number | null {
  if (!isObject(point)) return null
  const { timestamp } = point as Partial<GpsPoint>
  return typeof timestamp === 'number' || typeof timestamp === 'string'
    ? parseSentTime(timestamp, calendar)
    : null
}

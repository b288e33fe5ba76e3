/**
 * Corrects the times of a request: those of a GPS week rollover, and those of a phone whose clock is ahead.
 *
 * A point in the future is one of two things. A single wrong fix must not hold up the queue behind it, and its place
 * may be an old one. A wrong clock dates every point ahead by about the same, and then each is live: it counts at its
 * receipt. The second point of a tracker that is as far ahead as the first tells them apart.
 */
import type { GpsPoint } from '#shared/contracts/gps-points.ts'
import type { TrackerApp } from '#shared/contracts/trackers.ts'
import { TRACK_AHEAD_MS } from '#shared/points/point.ts'
import { parseSentTime } from '#shared/core/rules/sent-time.ts'
import { withoutRollover } from '#shared/core/rules/week-rollover.ts'
import type { AcceptRules } from '#shared/points/point.ts'
import { isObject } from './tracker-formats.ts'

/** A point that is at most this far ahead is sent again: its time comes soon. Later it would block the queue. */
const RESEND_AHEAD_MS = 15 * 60_000

/** How far ahead a tracker's point was. */
export interface Ahead {
  readonly byMs: number
  readonly sentMs: number
}

/** Notes how far ahead a tracker's point was. @returns whether another point was as far ahead lately */
export type NoteAhead = (key: string, ahead: Ahead) => Promise<boolean>

interface CorrectedTimes {
  readonly points: readonly unknown[]
  /** Whether the app is to send the request again, because a point's time comes soon. */
  readonly resend: boolean
  /** Whether a point was dated ahead. */
  readonly isAhead: boolean
}

/** @param noteAhead called for a point that is too far ahead to be sent again */
export async function correctTimes(
  app: TrackerApp,
  given: readonly unknown[],
  receivedMs: number,
  { calendar, maxAgeMs }: Pick<AcceptRules, 'calendar' | 'maxAgeMs'>,
  noteAhead: (ahead: Ahead) => Promise<boolean>,
): Promise<CorrectedTimes> {
  const latestMs = receivedMs + TRACK_AHEAD_MS
  const times = given.map((point) => {
    const ms = sentMsOf(point, calendar)
    return ms === null ? null : withoutRollover(ms, receivedMs - maxAgeMs, latestMs)
  })
  const ahead = times.filter((ms) => ms !== null && ms > latestMs) as number[]
  // GPSLogger forgets a point after four minutes, and its points wait for no other.
  const isForgetful = app === 'gpslogger'
  const isSoon = (ms: number) => !isForgetful && ms <= receivedMs + RESEND_AHEAD_MS
  const newestMs = ahead.reduce((newest, ms) => Math.max(newest, ms), 0)
  const byMs = newestMs - receivedMs
  const isWaiting = ahead.some(isSoon)
  const isClock = ahead.length > 0 && !isWaiting && (await noteAhead({ byMs, sentMs: newestMs }))
  const points = given.map((point, i) => {
    const ms = times[i]!
    if (ms === null || (ms <= latestMs && ms === sentMsOf(point, calendar))) return point
    return { ...(point as object), timestamp: isClock && ms > latestMs ? ms - byMs : ms }
  })
  return {
    points,
    resend: isWaiting || (isForgetful && ahead.length > 0 && !isClock),
    isAhead: ahead.length > 0,
  }
}

function sentMsOf(point: unknown, calendar: AcceptRules['calendar']): number | null {
  if (!isObject(point)) return null
  const { timestamp } = point as Partial<GpsPoint>
  return typeof timestamp === 'number' || typeof timestamp === 'string'
    ? parseSentTime(timestamp, calendar)
    : null
}

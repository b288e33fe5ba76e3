/** The SOS presses in a request of a tracker app. */
import { z } from 'zod'
import type { SosPress } from '#shared/contracts/emergencies.ts'
import { Latitude, Longitude } from '#shared/contracts/fields.ts'
import type { TrackerApp } from '#shared/contracts/trackers.ts'
import { withoutRollover } from '#shared/core/rules/week-rollover.ts'
import type { AcceptRules } from '#shared/points/accept.ts'
import { sentMsOf } from './sent-times.ts'

/**
 * A press with a position at most this old is live: apps send the press at once, but its position may be a little
 * older. An older one has waited in a queue.
 */
const LIVE_MS = 120_000

const Position = z.object({ lat: Latitude, lng: Longitude, accuracy: z.number().nullish() })

/**
 * @param whose the user id, or the hash of a key that no store could look up
 * @param points the point of each SOS; null for one without a readable place
 * @returns the oldest and the latest press; those between add nothing
 */
export function sosPresses(
  whose: Pick<SosPress, 'userId' | 'keyHash'>,
  source: TrackerApp,
  points: readonly unknown[],
  receivedMs: number,
  { calendar, maxAgeMs }: Pick<AcceptRules, 'calendar' | 'maxAgeMs'>,
): readonly SosPress[] {
  const oldestMs = receivedMs - maxAgeMs
  const presses = points
    .map((point): SosPress => {
      const ms = sentMsOf(point, calendar)
      const sentMs = ms === null ? receivedMs : Math.round(withoutRollover(ms, oldestMs, receivedMs))
      // A time that is too old says nothing about the time of the press.
      const hasWaited = sentMs < receivedMs - LIVE_MS && sentMs >= oldestMs
      const position = Position.safeParse(point).data
      return {
        ...whose,
        source,
        sentMs,
        pressedMs: hasWaited ? sentMs : receivedMs,
        receivedMs,
        place: position
          ? {
              lat: position.lat,
              lng: position.lng,
              accuracy: position.accuracy ?? null,
              atMs: Math.min(sentMs, receivedMs),
            }
          : null,
      }
    })
    .sort((a, b) => a.sentMs - b.sentMs)
  return presses.length > 2 ? [presses[0]!, presses.at(-1)!] : presses
}

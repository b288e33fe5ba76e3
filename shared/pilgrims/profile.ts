/** A pilgrim's profile: all figures, and the phone number as they wrote it. */
import { ParticipantStatus, timeOrNull } from '#shared/contracts/fields.ts'
import { consumptionMg, savedMg, transportSums } from '#shared/core/rules/carbon.ts'
import { achievementCard, levelOf, nextLevel } from '#shared/core/rules/levels.ts'
import { roundKg, roundKm } from '#shared/core/rules/rounding.ts'
import { zeroTotals } from '#shared/core/distance/points-to-distance.ts'
import type { Pilgrim } from '#shared/points/totals/pilgrim-statistics.ts'
import { notFound, unavailable } from '#shared/runtime/refusal.ts'

export const unknownPilgrim = (userId: string) => notFound(`There is no pilgrim with the id ${userId}.`)

/**
 * Refuses a pilgrim of whom nothing is known.
 * @param waiting number of their points in the buffer; null: the buffer is unavailable
 * @throws Refusal 404 for a pilgrim whom no store knows, 503 for one whom only the buffer could know
 */
export function expectKnown(userId: string, isStored: boolean, waiting: number | null): void {
  if (isStored) return
  if (waiting === null)
    throw unavailable('Nothing is stored about this pilgrim yet. Please try again in a moment.')
  if (waiting === 0) throw unknownPilgrim(userId)
}

export function profileOf(userId: string, { row, statistics }: Pilgrim) {
  const { checkins, distanceMm, carbonMg: mg } = statistics ?? zeroTotals()
  const reported = transportSums(row?.transport ?? {})
  const { level, zh, en, icon } = levelOf(distanceMm, checkins)
  const surveyCompleted = row?.surveyCompleted ?? false
  const phone = row?.phone ?? null
  return {
    userId,
    display_name: row?.displayName ?? null,
    picture_url: row?.pictureUrl ?? null,
    level,
    level_name: { zh, en },
    icon,
    km: roundKm(distanceMm),
    checkins,
    next_level: nextLevel(distanceMm, checkins),
    carbon_kg: roundKg(mg + reported.carbonMg + consumptionMg(row?.consumption ?? {})),
    carbon_saved_kg: roundKg(savedMg(distanceMm + reported.distanceMm, mg + reported.carbonMg)),
    phone,
    survey_completed: surveyCompleted ? (1 as const) : (0 as const),
    privacy_agreed: row?.privacyAgreed ?? false,
    privacy_agreed_at: timeOrNull(row?.privacyAgreedMs),
    privacy_version: row?.privacyVersion ?? null,
    participant_status: ParticipantStatus.parse(row?.participantStatus ?? 'active'),
    achievement_card: achievementCard({ checkins, surveyCompleted, phone }),
    photo_count: row?.photoCount ?? 0,
    first_seen: timeOrNull(statistics?.firstMs),
    last_seen: timeOrNull(statistics?.lastMs),
  }
}

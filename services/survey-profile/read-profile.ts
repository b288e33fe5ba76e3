/** Pilgrims' profiles: to themselves and to operators whole, to others without the instants at which they were seen. */
import type { ServiceContext } from '#shared/runtime/context.ts'
import { ParticipantStatus, time } from '#shared/contracts/fields.ts'
import type { Profile } from '#shared/contracts/profile.ts'
import { seenAt } from '#shared/contracts/first-and-last-seen.ts'
import { notFound, unavailable } from '#shared/http/errors.ts'
import { type Pilgrim, readPilgrimsDegraded } from '#shared/fold/pilgrim-statistics.ts'
import { achievementCard } from '#shared/rules/achievement.ts'
import { savedMg } from '#shared/rules/carbon.ts'
import { levelOf, nextLevel } from '#shared/rules/levels.ts'
import { consumptionMg, transportSums } from '#shared/rules/reported-carbon.ts'
import { roundKg, roundKm } from '#shared/rules/rounding.ts'
import { zeroSums } from '#shared/fold/point-totals.ts'

/** All digits but the last two become dots, and so does what separates them. */
export const maskPhone = (phone: string): string =>
  `${'•'.repeat(Math.max(0, phone.length - 2))}${phone.slice(-2)}`

/**
 * Reads profiles, by id; who is known in the buffer only is known, and of whom nothing is known is left out. While the
 * buffer can not be asked they are as the database knows them, and null stands for someone who may be known there.
 */
export async function readProfiles(
  context: ServiceContext,
  userIds: readonly string[],
): Promise<Map<string, Profile | null>> {
  const known = await readPilgrimsDegraded(context, userIds)
  return new Map(
    Array.from(known, ([userId, pilgrim]) => [userId, pilgrim === null ? null : profileOf(userId, pilgrim)]),
  )
}

/**
 * The profile that was found.
 * @throws Refusal 404 where none was, 503 where that can not be said
 */
export function knownProfile(userId: string, profile: Profile | null | undefined): Profile {
  if (profile === null)
    throw unavailable('Nothing is stored of this pilgrim yet: please try again in a moment.')
  if (profile === undefined) throw notFound(`Nothing is known of a pilgrim with the id ${userId}.`)
  return profile
}

function profileOf(userId: string, { row, statistics, pending }: Pilgrim): Profile {
  const { checkins, distanceMm, carbonMg: mg } = statistics ?? zeroSums()
  const reported = transportSums(row?.transport ?? {})
  const level = levelOf(distanceMm, checkins)
  const surveyCompleted = row?.surveyCompleted ?? false
  const phone = row?.phone ?? null
  return {
    userId,
    display_name: row?.displayName ?? null,
    picture_url: row?.pictureUrl ?? null,
    level: level.level,
    level_name: { zh: level.zh, en: level.en },
    icon: level.icon,
    km: roundKm(distanceMm),
    checkins,
    next_level: nextLevel(distanceMm, checkins),
    carbon_kg: roundKg(mg + reported.carbonMg + consumptionMg(row?.consumption ?? {})),
    carbon_saved_kg: roundKg(savedMg(distanceMm + reported.distanceMm, mg + reported.carbonMg)),
    phone: phone === null ? null : maskPhone(phone),
    survey_completed: surveyCompleted ? 1 : 0,
    privacy_agreed: row?.privacyAgreed ?? false,
    privacy_agreed_at: row?.privacyAgreedMs == null ? null : time(row.privacyAgreedMs),
    participant_status: ParticipantStatus.parse(row?.participantStatus ?? 'active'),
    achievement_card: achievementCard({ checkins, surveyCompleted, phone }),
    photo_count: row?.photoCount ?? 0,
    first_seen: seenAt(statistics?.firstMs),
    last_seen: seenAt(statistics?.lastMs),
    ...(pending === null ? { pending } : {}),
  }
}

/** What others see of it: an instant would tell which point of the map is the pilgrim's. */
export function forOthers({ calendar }: Pick<ServiceContext, 'calendar'>, profile: Profile): Profile {
  const dayOf = (seen: Profile['first_seen']) => seen && calendar.day(Date.parse(seen))
  return { ...profile, first_seen: dayOf(profile.first_seen), last_seen: dayOf(profile.last_seen) }
}

/** A pilgrim's profile as the public sees it. */
import { eq } from 'drizzle-orm'
import type { ServiceContext } from '#shared/context.ts'
import { ParticipantStatus, time } from '#shared/contracts/fields.ts'
import type { Profile } from '#shared/contracts/profile.ts'
import { notFound } from '#shared/errors.ts'
import { readStatistics } from '#shared/fold/statistics.ts'
import { achievementCard } from '#shared/rules/achievement.ts'
import { savedMg } from '#shared/rules/carbon.ts'
import { levelOf, nextLevel } from '#shared/rules/levels.ts'
import { consumptionMg, transportSums } from '#shared/rules/reported-carbon.ts'
import { shownKg, shownKm } from '#shared/rules/shown.ts'
import { noSums } from '#shared/rules/tally.ts'
import { pilgrims } from '#shared/schema/profiles.ts'

/** All digits but the last two become dots, and so does what separates them. */
export const maskPhone = (phone: string): string =>
  `${'•'.repeat(Math.max(0, phone.length - 2))}${phone.slice(-2)}`

/**
 * Reads a profile; a pilgrim who is known in the buffer only is known.
 * @throws Refusal 404 for someone of whom nothing is known
 */
export async function readProfile(context: ServiceContext, userId: string): Promise<Profile> {
  const { db } = context
  const [statistics, [pilgrim]] = await Promise.all([
    readStatistics(context, userId),
    db.read(() => db.orm.select().from(pilgrims).where(eq(pilgrims.userId, userId))),
  ])
  if (statistics === null && pilgrim === undefined)
    throw notFound(`Nothing is known of a pilgrim with the id ${userId}.`)
  const { checkins, distanceMm, carbonMg: mg } = statistics ?? noSums()
  const reported = transportSums(pilgrim?.transport ?? {})
  const level = levelOf(distanceMm, checkins)
  const surveyCompleted = pilgrim?.surveyCompletedAt != null
  const phone = pilgrim?.phone ?? null
  const firstMs = statistics?.firstMs ?? pilgrim?.createdAt.getTime() ?? null
  const lastMs = statistics?.lastMs ?? pilgrim?.updatedAt.getTime() ?? null
  return {
    userId,
    display_name: pilgrim?.displayName ?? null,
    picture_url: pilgrim?.pictureUrl ?? null,
    level: level.level,
    level_name: { zh: level.zh, en: level.en },
    icon: level.icon,
    km: shownKm(distanceMm),
    checkins,
    next_level: nextLevel(distanceMm, checkins),
    carbon_kg: shownKg(mg + reported.carbonMg + consumptionMg(pilgrim?.consumption ?? {})),
    carbon_saved_kg: shownKg(savedMg(distanceMm + reported.distanceMm, mg + reported.carbonMg)),
    phone: phone === null ? null : maskPhone(phone),
    survey_completed: surveyCompleted ? 1 : 0,
    privacy_agreed: pilgrim?.privacyAgreed ?? false,
    privacy_agreed_at: pilgrim?.privacyAgreedAt ? time(pilgrim.privacyAgreedAt.getTime()) : null,
    participant_status: ParticipantStatus.parse(pilgrim?.participantStatus ?? 'active'),
    achievement_card: achievementCard({ checkins, surveyCompleted, phone }),
    photo_count: pilgrim?.photoCount ?? 0,
    first_seen: firstMs === null ? null : time(firstMs),
    last_seen: lastMs === null ? null : time(lastMs),
  }
}

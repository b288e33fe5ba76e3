/** Pilgrims' profiles. The pilgrim and operators get all of it; others get days instead of instants. */
import type { Calendar } from '#shared/core/rules/calendar.ts'
import { isAppId } from '#shared/contracts/fields.ts'
import type { Profile } from '#shared/contracts/profile.ts'
import { expectKnown, profileOf } from '#shared/pilgrims/profile.ts'
import type { Pilgrim } from '#shared/points/totals/pilgrim-statistics.ts'
import { nextLevel } from '#shared/core/rules/levels.ts'
import { coarseKg, coarseKm } from '#shared/pilgrims/public-figures.ts'

export const maskPhone = (phone: string): string =>
  `${'•'.repeat(Math.max(0, phone.length - 2))}${phone.slice(-2)}`

/**
 * Returns the profile of a pilgrim as `readPilgrimsDegraded` found them.
 * @throws Refusal 404 when the pilgrim is unknown, 503 when that can not be determined
 */
export function expectProfile(userId: string, found: Pilgrim | null | undefined): Profile {
  expectKnown(userId, found != null, found === null ? null : 0)
  const { phone, ...profile } = profileOf(userId, found!)
  return {
    ...profile,
    phone: phone && maskPhone(phone),
    ...(found!.pending === null ? { pending: null } : {}),
  }
}

/** Who may not share is known to others by name and level alone. */
const HIDDEN = {
  picture_url: null,
  km: 0,
  checkins: 0,
  next_level: null,
  carbon_kg: 0,
  carbon_saved_kg: 0,
  phone: null,
  survey_completed: 0,
  achievement_card: 'locked',
  photo_count: 0,
  first_seen: null,
  last_seen: null,
} as const satisfies Partial<Profile>

/**
 * The profile as others get it: days, because an instant would reveal which point of the map is the pilgrim's, and
 * rounded figures while the event runs. An app's id is known to its pilgrim alone, who reads their own figures by it.
 * @param found the pilgrim whose profile it is
 * @param isExact as `isExactForAll`
 */
export function toPublicProfile(
  calendar: Calendar,
  profile: Profile,
  found: Pilgrim | null | undefined,
  isExact: boolean,
): Profile {
  const dayOf = (seen: Profile['first_seen']) => seen && calendar.day(Date.parse(seen))
  const days = { ...profile, first_seen: dayOf(profile.first_seen), last_seen: dayOf(profile.last_seen) }
  if (isAppId(profile.userId)) return days
  if (profile.participant_status === 'withdrawn' || found?.row?.consentWithdrawn)
    return { ...days, ...HIDDEN }
  const anonymous = { ...days, phone: profile.phone && '••••••••' }
  if (isExact) return anonymous
  const km = coarseKm(profile.km)
  return {
    ...anonymous,
    km,
    next_level: nextLevel(km * 1e6, profile.checkins),
    carbon_kg: coarseKg(profile.carbon_kg),
    carbon_saved_kg: coarseKg(profile.carbon_saved_kg),
  }
}

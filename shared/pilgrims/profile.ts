/**
 * A pilgrim's profile and figures, for the pilgrim and operators, and for others. Exact kilometres reveal a place on
 * the route, so others get them rounded down while the event runs.
 */
import { isAppId, ParticipantStatus, timeOrNull } from '#shared/contracts/fields.ts'
import type { Profile } from '#shared/contracts/profile.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'
import { consumptionMg, savedMg, transportSums } from '#shared/core/rules/carbon.ts'
import { achievementCard, type Level, levelOf, nextLevel } from '#shared/core/rules/levels.ts'
import { CLAIM_MEASURES } from '#shared/core/rules/claim-measures.ts'
import { roundKg, roundKm } from '#shared/core/rules/rounding.ts'
import { zeroTotals } from '#shared/core/distance/points-to-distance.ts'
import type { Pilgrim } from '#shared/points/totals/pilgrim-statistics.ts'
import type { Config } from '#shared/runtime/config/config.ts'
import { notFound, unavailable } from '#shared/runtime/refusal.ts'
import { readStatusCopy } from './activity-status.ts'
import type { Event } from './event-settings.ts'

export const unknownPilgrim = (userId: string) => notFound(`There is no pilgrim with the id ${userId}.`)

/**
 * Rejects an unknown pilgrim.
 * @param waiting number of their points in the buffer; null: the buffer is unavailable
 * @throws Refusal 404 for a pilgrim unknown to every store, 503 for one whom only the buffer could know
 */
export function expectKnown(userId: string, isStored: boolean, waiting: number | null): void {
  if (isStored) return
  if (waiting === null)
    throw unavailable('Nothing is stored about this pilgrim yet. Please try again in a moment.')
  if (waiting === 0) throw unknownPilgrim(userId)
}

type Counted = Pick<Pilgrim, 'statistics' | 'row'>

function figuresOf({ row, statistics }: Counted) {
  const { checkins, distanceMm, carbonMg } = statistics ?? zeroTotals()
  const reported = transportSums(row?.transport ?? {})
  const spentMg = carbonMg + reported.carbonMg
  const surveyCompleted = row?.surveyCompleted ?? false
  const phone = row?.phone ?? null
  return {
    checkins,
    distanceMm,
    spentMg,
    savedKg: roundKg(savedMg(distanceMm + reported.distanceMm, spentMg)),
    level: levelOf(distanceMm, checkins),
    surveyCompleted,
    phone,
    card: achievementCard({ checkins, surveyCompleted, phone }),
  }
}

/** The event's names of the levels, as answers contain them. */
const namesOf = ({ levelNames }: EventWords, level: number) => ({
  zh: levelNames('zh-Hant')[level - 1]!,
  en: levelNames('en')[level - 1]!,
})

type EventWords = Pick<Event, 'levelNames' | 'followed'>

export function profileOf(event: EventWords, userId: string, pilgrim: Counted) {
  const { row, statistics } = pilgrim
  const { checkins, distanceMm, spentMg, savedKg, surveyCompleted, phone, ...figures } = figuresOf(pilgrim)
  const { level, icon } = figures.level
  return {
    userId,
    display_name: row?.displayName ?? null,
    picture_url: row?.pictureUrl ?? null,
    level,
    level_name: namesOf(event, level),
    icon,
    km: roundKm(distanceMm),
    checkins,
    next_level: nextLevel(distanceMm, checkins),
    carbon_kg: roundKg(spentMg + consumptionMg(row?.consumption ?? {})),
    carbon_saved_kg: savedKg,
    phone,
    survey_completed: surveyCompleted ? (1 as const) : (0 as const),
    privacy_agreed: row?.privacyAgreed ?? false,
    privacy_agreed_at: timeOrNull(row?.privacyAgreedMs),
    privacy_version: row?.privacyVersion ?? null,
    participant_status: ParticipantStatus.parse(row?.participantStatus ?? 'active'),
    achievement_card: figures.card,
    photo_count: row?.photoCount ?? 0,
    ...(row?.palanquin && event.followed !== 'walk' ? { palanquin: true as const } : {}),
    first_seen: timeOrNull(statistics?.firstMs),
    last_seen: timeOrNull(statistics?.lastMs),
  }
}

export const maskPhone = (phone: string): string =>
  `${'•'.repeat(Math.max(0, phone.length - 2))}${phone.slice(-2)}`

/**
 * Returns the profile of a pilgrim from the result of `readPilgrimsDegraded`.
 * @throws Refusal 404 when the pilgrim is unknown, 503 when that cannot be determined
 */
export function expectProfile(event: EventWords, userId: string, found: Pilgrim | null | undefined): Profile {
  expectKnown(userId, found != null, found === null ? null : 0)
  const { phone, ...profile } = profileOf(event, userId, found!)
  return {
    ...profile,
    phone: phone && maskPhone(phone),
    ...(found!.pending === null ? { pending: null } : {}),
  }
}

/** Kilometres rounded down: to whole ones below 10, to fives above. Every level begins at a multiple of five. */
const coarseKm = (km: number): number => (km < 10 ? Math.floor(km) : Math.floor(km / 5) * 5)

/**
 * Public figures in place of the exact ones: the coarse kilometres, and the savings of walking these. Reports and modes
 * are left out. If the rounded sum included reports, which strangers can submit, changing a report until the sum steps
 * would reveal the exact kilometres.
 * @param savedKg overrides these savings
 */
function coarseFigures(exactKm: number, savedKg: number | null) {
  const km = coarseKm(exactKm)
  return { km, savedKg: Math.round(savedKg ?? savedMg(km * 1e6, 0) / 1e6) }
}

/**
 * What others see: `exact` figures once the event has ended, or where the map shows single pilgrims; until then coarse
 * ones, and for a claim those of its walk in order (`points/totals/points-in-order.ts`).
 */
export type Exposure = 'exact' | 'coarse' | 'coarse-in-order'

export async function readExposure(
  stores: Parameters<typeof readStatusCopy>[0] & { readonly config: Pick<Config, 'mapCrowd' | 'identity'> },
): Promise<(userId: string) => Exposure> {
  const { mapCrowd, identity } = stores.config
  if (mapCrowd === 1 || (await readStatusCopy(stores)).status === 'ended') return () => 'exact'
  const inOrder = identity === 'open' && CLAIM_MEASURES.lateAtEnd
  return (userId) => (inOrder && !isAppId(userId) ? 'coarse-in-order' : 'coarse')
}

/** The distance that others see; null: the exact one. */
function coarseOf(pilgrim: Counted, exposure: Exposure) {
  if (exposure === 'exact') return null
  const { distanceMm, shownMm } = pilgrim.statistics ?? { distanceMm: 0, shownMm: 0 }
  return coarseFigures(
    roundKm(exposure === 'coarse' ? distanceMm : shownMm),
    CLAIM_MEASURES.coarseSavings ? null : figuresOf(pilgrim).savedKg,
  )
}

/** For pilgrims who may not share, others see only name and level. */
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
 * The profile as others see it: days, because an instant would reveal which point of the map is the pilgrim's, and
 * rounded figures while the event runs. Only the pilgrim knows an app's id, and reads their own figures by it.
 * @param found the pilgrim of the profile
 * @param exposure from `readExposure`
 */
export function toPublicProfile(
  { calendar, event }: { readonly calendar: Calendar; readonly event: { readonly current: EventWords } },
  { palanquin, ...profile }: Profile,
  found: Pilgrim | null | undefined,
  exposure: Exposure,
): Profile {
  const dayOf = (seen: Profile['first_seen']) => seen && calendar.day(Date.parse(seen))
  const days = { ...profile, first_seen: dayOf(profile.first_seen), last_seen: dayOf(profile.last_seen) }
  if (isAppId(profile.userId)) return palanquin === undefined ? days : { ...days, palanquin }
  const coarse = coarseOf({ row: found?.row ?? null, statistics: found?.statistics ?? null }, exposure)
  const isHidden = profile.participant_status === 'withdrawn' || found?.row?.consentWithdrawn === true
  return {
    ...days,
    phone: profile.phone && '••••••••',
    ...(coarse && coarseProfile(event.current, coarse, profile.checkins)),
    ...(isHidden && HIDDEN),
  }
}

function coarseProfile(
  event: EventWords,
  { km, savedKg }: ReturnType<typeof coarseFigures>,
  checkins: number,
): Partial<Profile> {
  const { level, icon } = levelOf(km * 1e6, checkins)
  return {
    km,
    level,
    level_name: namesOf(event, level),
    icon,
    next_level: nextLevel(km * 1e6, checkins),
    carbon_kg: 0,
    carbon_saved_kg: savedKg,
  }
}

export interface PublicFigures {
  readonly level: Level
  readonly km: number
  /** The exact kilometres may be higher: they are shown as `40+`. */
  readonly isAtLeast?: true
  readonly checkins: number
  /** Kilograms of carbon. */
  readonly savedKg: number
  readonly unlocked: boolean
}

export function publicFigures(pilgrim: Counted, exposure: Exposure): PublicFigures {
  const { distanceMm, checkins, savedKg, card } = figuresOf(pilgrim)
  const coarse = coarseOf(pilgrim, exposure)
  const figures = coarse ?? { km: roundKm(distanceMm), savedKg }
  return {
    ...(coarse !== null && coarse.km > 0 ? { isAtLeast: true as const } : {}),
    level: levelOf(figures.km * 1e6, checkins),
    checkins,
    unlocked: card === 'unlocked',
    ...figures,
  }
}

/**
 * What others get of a pilgrim's figures. Exact kilometres are a place on the route, so others get them rounded down
 * while the event runs.
 */
import type { Config } from '#shared/runtime/config/config.ts'
import { zeroTotals } from '#shared/core/distance/points-to-distance.ts'
import { savedMg, transportSums } from '#shared/core/rules/carbon.ts'
import { achievementCard, type Level, levelOf } from '#shared/core/rules/levels.ts'
import { roundKg, roundKm } from '#shared/core/rules/rounding.ts'
import type { Pilgrim } from '#shared/points/totals/pilgrim-statistics.ts'
import { readStatusCopy } from './activity-status.ts'

/** Kilometres: whole ones below 10, whole fives above. Every level begins at a whole five. */
export const coarseKm = (km: number): number => coarse(km, 10)
/** Kilograms, which follow from the kilometres: whole ones below 5, whole fives above. */
export const coarseKg = (kg: number): number => coarse(kg, 5)

const coarse = (value: number, fine: number): number =>
  value < fine ? Math.floor(value) : Math.floor(value / 5) * 5

/** Whether everybody gets exact figures: once the event has ended, and where the map shows single pilgrims. */
export const isExactForAll = async (
  stores: Parameters<typeof readStatusCopy>[0] & { readonly config: Pick<Config, 'mapCrowd'> },
): Promise<boolean> => stores.config.mapCrowd === 1 || (await readStatusCopy(stores)).status === 'ended'

export interface PublicFigures {
  readonly level: Level
  readonly km: number
  readonly checkins: number
  /** Kilograms of carbon. */
  readonly savedKg: number
  /** Whether the card is the achievement card. */
  readonly unlocked: boolean
}

export function publicFigures(
  { statistics, row }: Pick<Pilgrim, 'statistics' | 'row'>,
  isExact: boolean,
): PublicFigures {
  const { distanceMm, checkins, carbonMg } = statistics ?? zeroTotals()
  const reported = transportSums(row?.transport ?? {})
  const savedKg = roundKg(savedMg(distanceMm + reported.distanceMm, carbonMg + reported.carbonMg))
  const surveyCompleted = row?.surveyCompleted ?? false
  return {
    level: levelOf(distanceMm, checkins),
    km: isExact ? roundKm(distanceMm) : coarseKm(distanceMm / 1e6),
    checkins,
    savedKg: isExact ? savedKg : coarseKg(savedKg),
    unlocked: achievementCard({ checkins, surveyCompleted, phone: row?.phone ?? null }) === 'unlocked',
  }
}

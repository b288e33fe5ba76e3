/** Kilometres by mode as text: walked, and ridden. */
import type { Data } from '#shared/client/index.ts'
import { nameOf, words, inKm } from '../words.ts'

type Recorded = Pick<Data<'readCarbon'>, 'recorded_km'>

/** Recorded kilometres on foot, and in all modes together. Journeys reported by pilgrims are not included. */
export function distancesOf({ recorded_km }: Recorded): { readonly walked: number; readonly all: number } {
  const all = Object.values(recorded_km).reduce((sum, km) => sum + km, 0)
  return { walked: recorded_km['walk'] ?? 0, all }
}

export const modeName = (mode: string): string => nameOf(words.value.reports.modes, mode)

/** `Scooter 477 km, Bus 295 km`; undefined if everything was walked. */
export function ridden(carbon: Recorded): string | undefined {
  const rides = Object.entries(carbon.recorded_km)
    .filter(([mode, km]) => mode !== 'walk' && km > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([mode, km]) => `${modeName(mode)} ${inKm(km)}`)
  return rides.length === 0 ? undefined : rides.join(words.value.common.comma)
}

/** The stations around a place of the route, and the part of the procession at a station. Pure functions. */

export interface PlaceOnRoute {
  /** Index of the nearest station; null without stations. */
  readonly station: number | null
  /** Kilometres from the start of the route; null off it. */
  readonly route_km: number | null
}

/** A place closer than this to a station along the route is near it. */
const NEAR_KM = 1

/** The nearby station, or the two on both sides of the place; null without stations. */
export function stationsAround<S extends { readonly route_km: number }>(
  { station, route_km: at }: PlaceOnRoute,
  stations: readonly S[],
): readonly [S, S?] | null {
  const nearest = station === null ? undefined : stations[station]
  if (nearest === undefined) return null
  if (at === null || Math.abs(nearest.route_km - at) <= NEAR_KM) return [nearest]
  const before = stations.findLast(({ route_km }) => route_km <= at)
  const after = stations.find(({ route_km }) => route_km > at)
  return before === undefined || after === undefined ? [nearest] : [before, after]
}

/** Accuracy of a position; a smaller distance would read `0 km to go`. */
const REACHED_KM = 0.05

/** Whether a pilgrim has reached a station. @param km along the route */
export const hasReached = (km: number, { route_km }: { readonly route_km: number }): boolean =>
  km + REACHED_KM > route_km

/** A longer procession never passes a station as a whole: a few people are always before it and behind it. */
const LONGEST_KM = 15

/** Whether the walkers are too far apart to be described as one procession; kilometres along the route. */
export const isScattered = (front: number, tail: number | null): boolean =>
  tail !== null && front - tail > LONGEST_KM

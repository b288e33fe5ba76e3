/** The stations around a place of the route, and what of the procession is at one. Pure functions. */

export interface PlaceOnRoute {
  /** Index of the nearest station; null without stations. */
  readonly station: number | null
  /** Kilometres from the start of the route; null off it. */
  readonly route_km: number | null
}

/** Nearer to a station than this along the route, a place is near it. */
const NEAR_KM = 1

/** The station that the place is near, or the two that it is between; null without stations. */
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

/** A position is no more exact, and `0 km to go` says nothing. */
const REACHED_KM = 0.05

/** Somebody has come to a station. @param km along the route */
export const hasReached = (km: number, { route_km }: { readonly route_km: number }): boolean =>
  km + REACHED_KM > route_km

/** A procession that is longer does not pass a station: a few people are somewhere before it and behind it. */
const LONGEST_KM = 15

/** Whether those who walk are too far from each other to be told of as one procession; kilometres along the route. */
export const isScattered = (front: number, tail: number | null): boolean =>
  tail !== null && front - tail > LONGEST_KM

/** The event's route: distances along it. */
import { distanceMm } from '#shared/rules/geo.ts'

export interface Place {
  readonly lat: number
  readonly lng: number
}

/** A named place on the route. */
export interface Station extends Place {
  readonly name: string
  /** Names in other languages, by language. */
  readonly names: Readonly<Record<string, string>>
  /** Distance along the route from its beginning, metres. */
  readonly alongM: number
}

export interface Route {
  /** The lines in the order in which they are walked. */
  readonly lines: readonly (readonly Place[])[]
  /** Metres. */
  readonly lengthM: number
  /** Projects a place onto the route: distance along it from its beginning, and distance from it; metres. */
  project(place: Place): { readonly alongM: number; readonly offM: number }
  /** The place at a distance from the beginning, metres. */
  at(alongM: number): Place
}

interface Leg {
  readonly from: Place
  readonly to: Place
  readonly startM: number
  readonly lengthM: number
}

const RADIANS = Math.PI / 180

/**
 * Creates a route of lines in order. The gap between two lines counts no distance.
 * @param lines at least one line of at least two places
 * @throws RangeError for a route without length
 */
export function createRoute(lines: readonly (readonly Place[])[]): Route {
  const legs: Leg[] = []
  let lengthM = 0
  for (const line of lines)
    for (let i = 1; i < line.length; i++) {
      const leg = { from: line[i - 1]!, to: line[i]!, startM: lengthM }
      const legM = distanceMm(leg.from, leg.to) / 1_000
      if (legM > 0) legs.push({ ...leg, lengthM: legM })
      lengthM += legM
    }
  if (legs.length === 0) throw new RangeError('a route needs two different places')
  return {
    lines,
    lengthM,
    project(place) {
      let [nearest, least] = [{ leg: legs[0]!, share: 0 }, Infinity]
      for (const leg of legs) {
        const { share, off } = footOn(leg, place)
        if (off < least) [nearest, least] = [{ leg, share }, off]
      }
      const { leg, share } = nearest
      const offM = distanceMm(place, between(leg, share)) / 1_000
      return { alongM: leg.startM + share * leg.lengthM, offM }
    },
    at(alongM) {
      const leg = legs.findLast(({ startM }) => startM <= alongM) ?? legs[0]!
      return between(leg, Math.min(Math.max((alongM - leg.startM) / leg.lengthM, 0), 1))
    },
  }
}

/**
 * Projects a place onto a leg: the fraction of the leg before the nearest place, and the squared distance in degrees of
 * latitude. The plane is accurate enough near the route.
 */
function footOn({ from, to }: Leg, place: Place): { readonly share: number; readonly off: number } {
  const shrink = Math.cos(place.lat * RADIANS)
  const [x, y] = [(to.lng - from.lng) * shrink, to.lat - from.lat]
  const [px, py] = [(place.lng - from.lng) * shrink, place.lat - from.lat]
  const share = Math.min(Math.max((px * x + py * y) / (x * x + y * y), 0), 1)
  return { share, off: (px - share * x) ** 2 + (py - share * y) ** 2 }
}

const between = ({ from, to }: Leg, share: number): Place => ({
  lat: from.lat + share * (to.lat - from.lat),
  lng: from.lng + share * (to.lng - from.lng),
})

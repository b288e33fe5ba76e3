/** The event's route: distances along it. */
import { METRES_PER_DEGREE, distanceMm, type Place, simplifyLine } from '#shared/core/rules/geo.ts'
import { type MeasuredRoute, measureRoute, shareAlong, unpackLines } from '#shared/core/rules/along-route.ts'
import { roundKm } from '#shared/core/rules/rounding.ts'

/** A named place on the route. */
export interface Station extends Place {
  readonly name: string
  /** Names in other languages, by language. */
  readonly names: Readonly<Record<string, string>>
  /** Distance along the route from its beginning, metres. */
  readonly alongM: number
  /** Planned arrival here, epoch milliseconds. */
  readonly plannedMs?: number
}

export interface Route {
  /** The lines in the order in which they are walked. */
  readonly lines: readonly (readonly Place[])[]
  readonly lengthM: number
  /** Projects a place onto the route: its distance along the route, and its distance from it; metres. */
  project(place: Place): Projection
  /**
   * Projects a place onto every stretch of the route near it: more than one where the route returns on the same road.
   * The nearest is among them.
   * @param mostM maximum distance of the nearest, metres; beyond it the list is empty
   * @param slackM how much farther away the others may be, metres: the uncertainty of the place
   */
  passes(place: Place, mostM: number, slackM: number): readonly Projection[]
  /** The place at a distance from the beginning, metres. */
  at(alongM: number): Place
}

interface Projection {
  readonly alongM: number
  readonly offM: number
}

interface Leg {
  readonly from: Place
  readonly to: Place
  readonly startM: number
  readonly lengthM: number
}

/** Consecutive legs and their bounding box, so that most of a long route is skipped. */
interface Run {
  readonly legs: readonly Leg[]
  readonly south: number
  readonly west: number
  readonly north: number
  readonly east: number
}
const LEGS_A_RUN = 32

const RADIANS = Math.PI / 180

/** Bends closer than this along the route, metres, belong to one stretch. */
const STRETCH_M = 200

/**
 * Creates a route of lines in order. The gaps between lines add no distance.
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
  const runs = Array.from({ length: Math.ceil(legs.length / LEGS_A_RUN) }, (_, i) =>
    runOf(legs.slice(i * LEGS_A_RUN, (i + 1) * LEGS_A_RUN)),
  )
  /** The leg nearest to a place, and its squared distance in degrees of latitude. */
  const nearestLeg = (place: Place, shrink: number): readonly [Leg, number] => {
    const offs = runs.map((run) => offOfBox(run, place, shrink))
    let [nearest, least] = [legs[0]!, Infinity]
    const look = (run: Run): void => {
      for (const leg of run.legs) {
        const off = offOf(leg, place, shrink)
        if (off > least || (off === least && leg.startM >= nearest.startM)) continue
        ;[nearest, least] = [leg, off]
      }
    }
    look(runs[offs.indexOf(Math.min(...offs))]!)
    for (const [i, run] of runs.entries()) if (offs[i]! <= least) look(run)
    return [nearest, least]
  }
  return {
    lines,
    lengthM,
    project(place) {
      const shrink = Math.cos(place.lat * RADIANS)
      return onLeg(nearestLeg(place, shrink)[0], place, shrink)
    },
    passes(place, mostM, slackM) {
      const shrink = Math.cos(place.lat * RADIANS)
      const [nearest, least] = nearestLeg(place, shrink)
      if (onLeg(nearest, place, shrink).offM > mostM) return []
      const within = (Math.sqrt(least) + slackM / METRES_PER_DEGREE) ** 2
      const passes: { leg: Leg; off: number; endM: number }[] = []
      for (const run of runs) {
        if (offOfBox(run, place, shrink) > within) continue
        for (const leg of run.legs) {
          const off = offOf(leg, place, shrink)
          if (off > within) continue
          const last = passes.at(-1)
          const endM = leg.startM + leg.lengthM
          if (last === undefined || leg.startM - last.endM > STRETCH_M) passes.push({ leg, off, endM })
          else Object.assign(last, off < last.off ? { leg, off, endM } : { endM })
        }
      }
      return passes.map(({ leg }) => onLeg(leg, place, shrink))
    },
    at(alongM) {
      const leg = legs.findLast(({ startM }) => startM <= alongM) ?? legs[0]!
      return between(leg, Math.min(Math.max((alongM - leg.startM) / leg.lengthM, 0), 1))
    },
  }
}

function onLeg(leg: Leg, place: Place, shrink: number): Projection {
  const share = shareOf(leg, place, shrink)
  const offM = distanceMm(place, between(leg, share)) / 1_000
  return { alongM: leg.startM + share * leg.lengthM, offM }
}

/**
 * Where on a leg the point nearest to `place` is, from 0 to 1. The plane is accurate enough near the route.
 * @param shrink cosine of the place's latitude
 */
function shareOf({ from, to }: Leg, place: Place, shrink: number): number {
  const [x, y] = [(to.lng - from.lng) * shrink, to.lat - from.lat]
  return shareAlong(x, y, (place.lng - from.lng) * shrink, place.lat - from.lat)
}

/** The squared distance of a place from a leg, in degrees of latitude. */
function offOf(leg: Leg, place: Place, shrink: number): number {
  const share = shareOf(leg, place, shrink)
  const { from, to } = leg
  const x = (place.lng - from.lng - share * (to.lng - from.lng)) * shrink
  const y = place.lat - from.lat - share * (to.lat - from.lat)
  return x * x + y * y
}

function runOf(legs: readonly Leg[]): Run {
  const ends = legs.flatMap(({ from, to }) => [from, to])
  const [lats, lngs] = [ends.map(({ lat }) => lat), ends.map(({ lng }) => lng)]
  const [south, north] = [Math.min(...lats), Math.max(...lats)]
  return { legs, south, north, west: Math.min(...lngs), east: Math.max(...lngs) }
}

/** The squared distance of a place from a run's box, in degrees of latitude: a lower bound for its legs. */
function offOfBox({ south, west, north, east }: Run, { lat, lng }: Place, shrink: number): number {
  const x = Math.max(west - lng, lng - east, 0) * shrink
  const y = Math.max(south - lat, lat - north, 0)
  return x * x + y * y
}

const between = ({ from, to }: Leg, share: number): Place => ({
  lat: from.lat + share * (to.lat - from.lat),
  lng: from.lng + share * (to.lng - from.lng),
})

// The route as pages receive it: simplified lines in whole units, also used to compute the distances they show.

interface ShownRoute {
  /** Each line as a flat list: its first place in 1e-5 degrees, then the differences. */
  readonly lines: number[][]
  readonly km: number
}

const TOLERANCE_M = 10

const shown = new WeakMap<Route, ShownRoute>()
const measured = new WeakMap<Route, MeasuredRoute>()

export const shownRoute = (route: Route): ShownRoute =>
  shown.getOrInsertComputed(route, () => ({
    lines: route.lines.map((line) => flatLine(line, TOLERANCE_M)),
    km: roundKm(route.lengthM * 1_000),
  }))

/** The simplified lines, measured as every client measures them. */
export const measuredRoute = (route: Route): MeasuredRoute =>
  measured.getOrInsertComputed(route, () => {
    const { lines, km } = shownRoute(route)
    return measureRoute(unpackLines(lines), km)
  })

/** Simplifies a line to the tolerance in metres, as differences of 1e-5 degrees. */
export function flatLine(line: readonly Place[], toleranceM: number): number[] {
  const shrink = Math.cos((line[0]!.lat * Math.PI) / 180)
  const placed = line.map(({ lat, lng }) => ({
    x: lng * shrink * METRES_PER_DEGREE,
    y: lat * METRES_PER_DEGREE,
    lat: Math.round(lat * 1e5),
    lng: Math.round(lng * 1e5),
  }))
  let [lastLat, lastLng] = [0, 0]
  return simplifyLine(placed, toleranceM).flatMap(({ lat, lng }) => {
    const step = [lat - lastLat, lng - lastLng]
    ;[lastLat, lastLng] = [lat, lng]
    return step
  })
}

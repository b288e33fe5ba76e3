/**
 * Position on the route, and distance along it to the stations ahead. The app and the share page both use these
 * functions, so they show the same figures. Pure functions.
 */
import { METRES_PER_DEGREE, distanceMm, type Place } from './geo.ts'

interface Leg {
  readonly from: Place
  readonly to: Place
  /** Distance from the start of the route, and length. */
  readonly startKm: number
  readonly km: number
}

export interface MeasuredRoute {
  readonly legs: readonly Leg[]
}

/** The route's lines from their transfer form: latitude and longitude in 1e-5 degrees, then differences. */
export function unpackLines(packed: readonly (readonly number[])[]): Place[][] {
  return packed.map((numbers) => {
    const places: Place[] = []
    let [lat, lng] = [0, 0]
    for (let i = 0; i + 1 < numbers.length; i += 2) {
      lat += numbers[i]!
      lng += numbers[i + 1]!
      places.push({ lat: lat / 1e5, lng: lng / 1e5 })
    }
    return places
  })
}

/** @param lengthKm length of the whole route. Simplified lines are a little shorter and are stretched to it */
export function measureRoute(lines: readonly (readonly Place[])[], lengthKm: number): MeasuredRoute {
  const legs: Leg[] = []
  let startKm = 0
  for (const line of lines)
    for (let i = 1; i < line.length; i++) {
      const [from, to] = [line[i - 1]!, line[i]!]
      const km = distanceMm(from, to) / 1e6
      if (km > 0) legs.push({ from, to, startKm, km })
      startKm += km
    }
  const stretch = startKm > 0 && lengthKm > 0 ? lengthKm / startKm : 1
  return { legs: legs.map((leg) => ({ ...leg, startKm: leg.startKm * stretch, km: leg.km * stretch })) }
}

/** Beyond this distance a place is off the route. */
const OFF_ROUTE_M = 2_000
/**
 * Passages of the route are equally near if their distances differ by less than this: the width of a road plus the
 * error of a phone.
 */
const EQUALLY_NEAR_M = 50
/** The same for a place along the way: the distance between an outbound and a return leg that both serve it. */
const SERVED_M = 300
/** A pilgrim who went back by less than this is still on the same passage. */
const BACK_KM = 0.2
/** Maximum number of places of the walked line that are followed. */
const FOLLOWED = 40
const REACH_DEGREES = OFF_ROUTE_M / METRES_PER_DEGREE

interface Foot {
  readonly km: number
  readonly offM: number
  /** Position on its leg, from 0 to 1, and the number of the leg. */
  readonly share: number
  readonly leg: number
}

/** Position on a leg (x, y) of the point nearest to (px, py), from 0 to 1. */
export const shareAlong = (x: number, y: number, px: number, py: number): number =>
  Math.min(1, Math.max(0, (px * x + py * y) / (x * x + y * y)))

/**
 * The point of a leg nearest to a place, on a plane, which is accurate enough near the route; null when too far away.
 */
function footOn({ legs }: MeasuredRoute, leg: number, at: Place, narrow: number): Foot | null {
  const { from, to, startKm, km } = legs[leg]!
  const y = to.lat - from.lat
  const py = at.lat - from.lat
  // Most legs of a long route are far away, so they are excluded first.
  if (py < Math.min(0, y) - REACH_DEGREES || py > Math.max(0, y) + REACH_DEGREES) return null
  const x = (to.lng - from.lng) * narrow
  const px = (at.lng - from.lng) * narrow
  if (px < Math.min(0, x) - REACH_DEGREES || px > Math.max(0, x) + REACH_DEGREES) return null
  const share = shareAlong(x, y, px, py)
  const offM = Math.sqrt((px - share * x) ** 2 + (py - share * y) ** 2) * METRES_PER_DEGREE
  return offM > OFF_ROUTE_M ? null : { km: startKm + share * km, offM, share, leg }
}

/**
 * The nearest point of each passage of the route near a place, in the order of the route.
 * @param equallyNearM passages farther away than the nearest one by more than this do not count
 */
function passagesNear(route: MeasuredRoute, at: Place, equallyNearM: number): Foot[] {
  const narrow = Math.cos((at.lat * Math.PI) / 180)
  const feet: Foot[] = []
  let least = Infinity
  for (let leg = 0; leg < route.legs.length; leg++) {
    const foot = footOn(route, leg, at, narrow)
    if (foot === null) continue
    feet.push(foot)
    least = Math.min(least, foot.offM)
  }
  const passages: Foot[] = []
  let last: Foot | null = null
  for (const foot of feet) {
    if (foot.offM > least + equallyNearM) continue
    const samePassage = last !== null && isSamePassage(last, foot) ? passages.at(-1) : undefined
    if (samePassage === undefined) passages.push(foot)
    else if (foot.offM < samePassage.offM) passages[passages.length - 1] = foot
    last = foot
  }
  return passages
}

/** The end of a leg is on the same passage as the point of the next leg that it leads to. */
const isSamePassage = (last: Foot, foot: Foot): boolean =>
  foot.km - last.km < BACK_KM || (foot.leg === last.leg + 1 && (last.share === 1 || foot.share === 0))

/** How far along the route the walked line has reached, and where on the route it ends; null off the route. */
function follow(
  route: MeasuredRoute,
  walked: readonly Place[],
  here: Place,
): { readonly reachedKm: number; readonly foot: Foot | null } {
  const every = Math.max(1, Math.ceil(walked.length / FOLLOWED))
  let reachedKm = 0
  let foot: Foot | null = null
  for (const place of [...walked.filter((_, i) => i % every === 0), here]) {
    const passages = passagesNear(route, place, EQUALLY_NEAR_M)
    const ahead = passages.find((passage) => passage.km >= reachedKm - BACK_KM)
    foot = ahead ?? passages.toSorted((a, b) => a.offM - b.offM)[0] ?? null
    if (foot !== null) reachedKm = ahead === undefined ? foot.km : Math.max(reachedKm, foot.km)
  }
  return { reachedKm, foot }
}

/**
 * Distance along the route to `here`. Where the route returns on the same road, `walked` decides the direction: a
 * pilgrim is outbound until they have walked the outbound leg.
 * @param walked in the order of time
 * @returns kilometres along the route; null off the route
 */
export const kmAlong = (route: MeasuredRoute, walked: readonly Place[], here: Place): number | null =>
  follow(route, walked, here).foot?.km ?? null

/**
 * The stretch of the route that a walked line covers: from its first place on the route to the farthest one it reaches.
 * @param walked in the order of time
 * @returns kilometres along the route; null for a line that never touches it
 */
export function stretchWalked(
  route: MeasuredRoute,
  walked: readonly Place[],
): { readonly fromKm: number; readonly toKm: number } | null {
  const on = walked.filter((place) => passagesNear(route, place, EQUALLY_NEAR_M).length > 0)
  const [first, last] = [on[0], on.at(-1)]
  if (first === undefined || last === undefined) return null
  return { fromKm: follow(route, [], first).reachedKm, toKm: follow(route, on, last).reachedKm }
}

const EIGHTH = Math.PI / 4

/**
 * Direction back to the route for a pilgrim who left it: to the part still ahead, because an outbound and a return leg
 * may run side by side.
 * @param walked in the order of time
 * @returns metres in a straight line, and the direction: 0 north, 1 north-east, … 7 north-west; null: there is no route
 */
export function wayToRoute(
  route: MeasuredRoute,
  walked: readonly Place[],
  at: Place,
): { readonly metres: number; readonly direction: number } | null {
  const { reachedKm } = follow(route, walked, at)
  const narrow = Math.cos((at.lat * Math.PI) / 180)
  let nearest: { readonly east: number; readonly north: number } | null = null
  for (const { from, to, startKm, km } of route.legs) {
    if (startKm + km < reachedKm - BACK_KM) continue
    const [x, y] = [(to.lng - from.lng) * narrow, to.lat - from.lat]
    const [px, py] = [(at.lng - from.lng) * narrow, at.lat - from.lat]
    const share = shareAlong(x, y, px, py)
    const [east, north] = [share * x - px, share * y - py]
    if (nearest === null || Math.hypot(east, north) < Math.hypot(nearest.east, nearest.north))
      nearest = { east, north }
  }
  if (nearest === null) return null
  const { east, north } = nearest
  return {
    metres: Math.hypot(east, north) * METRES_PER_DEGREE,
    direction: (Math.round(Math.atan2(east, north) / EIGHTH) + 8) % 8,
  }
}

/** Within this distance a pilgrim is at the station. */
const AT_STATION_KM = 0.05

/** The stations ahead, nearest first, with the distance along the route in tenths of a kilometre. */
export const stationsAhead = <S extends { readonly routeKm: number }>(
  stations: readonly S[],
  hereKm: number,
): { readonly station: S; readonly km: number }[] =>
  stations
    .filter(({ routeKm }) => routeKm > hereKm + AT_STATION_KM)
    .sort((a, b) => a.routeKm - b.routeKm)
    .map((station) => ({ station, km: Math.round((station.routeKm - hereKm) * 10) / 10 }))

/** A place ahead: metres to walk, including the way from the route to it. */
export interface PlaceAhead<P> {
  readonly place: P
  readonly metres: number
  /** Along the route; otherwise in a straight line, because they are off the route. */
  readonly isAlong: boolean
}

/** Farther from the route than this, the distance along it is not the walking distance. */
const BESIDE_ROUTE_M = 100

const passed = new WeakMap<object, readonly Foot[]>()

/** The passages of the route that are near a place; of a place they do not change. */
function passagesOf(route: MeasuredRoute, place: Place): readonly Foot[] {
  const known = passed.get(place) ?? passagesNear(route, place, SERVED_M)
  passed.set(place, known)
  return known
}

/**
 * The next place of each kind, the nearest first: along the route ahead of a pilgrim on it, or in a straight line for
 * one who is off the route. Where the way back passes a place again, it is ahead again.
 * @param places of this route; more than 2 km off it, they are ahead of nobody who walks it
 * @param walked in the order of time
 */
export function nextOfEachKind<P extends Place & { readonly kind: string }>(
  route: MeasuredRoute,
  places: readonly P[],
  walked: readonly Place[],
  here: Place,
): PlaceAhead<P>[] {
  const { foot } = follow(route, walked, here)
  const hereKm = foot === null || foot.offM > BESIDE_ROUTE_M ? null : foot.km
  const next = new Map<string, PlaceAhead<P>>()
  for (const place of places) {
    const straightM = distanceMm(here, place) / 1_000
    const alongM = (from: number): number =>
      Math.min(
        ...passagesOf(route, place)
          .filter(({ km }) => km > from - AT_STATION_KM)
          .map(({ km, offM }) => Math.max(0, km - from) * 1_000 + offM),
      )
    const metres = hereKm === null ? straightM : Math.max(straightM, alongM(hereKm))
    if (metres < (next.get(place.kind)?.metres ?? Infinity))
      next.set(place.kind, { place, metres, isAlong: hereKm !== null })
  }
  return [...next.values()].sort((a, b) => a.metres - b.metres)
}

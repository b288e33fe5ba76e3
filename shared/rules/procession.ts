/** Where a crowd on the move begins and ends. */
import { distanceMm } from './geo.ts'
import type { Place, Route } from './route.ts'

/** A place with how many points have been there, and how many pilgrims are. */
export interface Weighed extends Place {
  readonly points: number
  readonly users: number
}

/** `alongM` is null where there is no route. */
export interface End extends Place {
  readonly alongM: number | null
}

export interface Ends {
  readonly front: End
  readonly tail: End
  readonly spreadMm: number
}

/** Part of the pilgrims that is left out at each end. */
const STRAYS = 0.05
/** Who is farther off does not walk the route. */
const OFF_ROUTE_M = 5_000

const RADIANS = Math.PI / 180

/** By the way along a route; null when nobody is near it. */
export function alongRoute(places: readonly Weighed[], route: Route): Ends | null {
  const near = places
    .filter(({ users }) => users > 0)
    .map((place) => ({ users: place.users, ...projected(place, route) }))
    .filter(({ offM }) => offM <= OFF_ROUTE_M)
    .sort((a, b) => a.alongM - b.alongM)
  const ends = withoutStrays(near)
  if (ends === null) return null
  const [tail, front] = ends.map(({ alongM }) => ({ ...route.at(alongM), alongM })) as [End, End]
  return { front, tail, spreadMm: (front.alongM! - tail.alongM!) * 1_000 }
}

/** Cells come again with every reading, and a route has many legs. */
const KNOWN_MAX = 100_000
const known = new WeakMap<Route, Map<string, ReturnType<Route['project']>>>()

function projected(place: Place, route: Route): ReturnType<Route['project']> {
  let mine = known.get(route)
  if (mine === undefined || mine.size >= KNOWN_MAX) known.set(route, (mine = new Map()))
  const key = `${place.lat} ${place.lng}`
  let found = mine.get(key)
  if (found === undefined) mine.set(key, (found = route.project(place)))
  return found
}

/**
 * Without a route: along the line that the crowd is longest on, towards where it has gone. The line is that of the
 * nine in ten who are nearest to its middle, so that one who went home by train does not turn it.
 */
export function alongAxis(places: readonly Weighed[]): Ends | null {
  const there = places.filter(({ users }) => users > 0)
  if (there.length === 0) return null
  const middle = { lat: median(there, ({ lat }) => lat), lng: median(there, ({ lng }) => lng) }
  const plane = planeAround(middle)
  const crowd = nearest(there, plane)
  const [dx, dy] = direction(crowd, places, plane)
  const along = (place: Place): number => plane.x(place) * dx + plane.y(place) * dy
  let [tail, front] = [crowd[0]!, crowd[0]!]
  for (const place of crowd) {
    if (along(place) < along(tail)) tail = place
    if (along(place) > along(front)) front = place
  }
  const [first, last] = [front, tail].map(({ lat, lng }) => ({ lat, lng, alongM: null })) as [End, End]
  return { front: first, tail: last, spreadMm: distanceMm(tail, front) }
}

/** Degrees of latitude from a place, eastward and northward. */
interface Plane {
  x(place: Place): number
  y(place: Place): number
}

/** Near the place the Earth is flat enough. */
function planeAround({ lat, lng }: Place): Plane {
  const shrink = Math.cos(lat * RADIANS)
  return { x: (place) => (place.lng - lng) * shrink, y: (place) => place.lat - lat }
}

/** All but the pilgrims who are farthest from the middle: the strays of both ends. */
function nearest(places: readonly Weighed[], { x, y }: Plane): readonly Weighed[] {
  const squareOff = (place: Place): number => x(place) ** 2 + y(place) ** 2
  const people = usersOf(places)
  const farthest = nthValue(places, squareOff, people - 2 * Math.floor(people * STRAYS) - 1)
  return places.filter((place) => squareOff(place) <= farthest)
}

/** Along the crowd's longest line, from where points are to where the pilgrims are. */
function direction(
  crowd: readonly Weighed[],
  all: readonly Weighed[],
  plane: Plane,
): readonly [x: number, y: number] {
  const people = mean(crowd, ({ users }) => users, plane)
  const past = mean(all, ({ points }) => points, plane)
  let [xx, yy, xy] = [0, 0, 0]
  for (const place of crowd) {
    const [x, y] = [plane.x(place) - people.x, plane.y(place) - people.y]
    xx += place.users * x ** 2
    yy += place.users * y ** 2
    xy += place.users * x * y
  }
  const angle = Math.atan2(2 * xy, xx - yy) / 2
  const [dx, dy] = [Math.cos(angle), Math.sin(angle)]
  const isForward = dx * (people.x - past.x) + dy * (people.y - past.y) >= 0
  return isForward ? [dx, dy] : [-dx, -dy]
}

function mean(
  places: readonly Weighed[],
  weigh: (place: Weighed) => number,
  plane: Plane,
): { x: number; y: number } {
  let [x, y, weight] = [0, 0, 0]
  for (const place of places) {
    x += plane.x(place) * weigh(place)
    y += plane.y(place) * weigh(place)
    weight += weigh(place)
  }
  return weight === 0 ? { x: 0, y: 0 } : { x: x / weight, y: y / weight }
}

const usersOf = (places: readonly { readonly users: number }[]): number =>
  places.reduce((sum, { users }) => sum + users, 0)

const median = (places: readonly Weighed[], read: (place: Weighed) => number): number =>
  nthValue(places, read, Math.floor((usersOf(places) - 1) / 2))

/** The n-th smallest, from 0, of what is read of each pilgrim. Numbers are put in order far faster than places. */
function nthValue(places: readonly Weighed[], read: (place: Weighed) => number, n: number): number {
  const values = new Float64Array(usersOf(places))
  let filled = 0
  for (const place of places) values.fill(read(place), filled, (filled += place.users))
  return values.sort()[n]!
}

/** First and last of a sorted crowd, the strays of both ends left out. */
function withoutStrays<P extends { readonly users: number }>(sorted: readonly P[]): [P, P] | null {
  const people = usersOf(sorted)
  if (people === 0) return null
  const strays = Math.floor(people * STRAYS)
  return [nth(sorted, strays), nth(sorted, people - 1 - strays)]
}

/** Where the n-th pilgrim of a sorted crowd is, from 0. */
function nth<P extends { readonly users: number }>(sorted: readonly P[], n: number): P {
  let passed = 0
  return sorted.find(({ users }) => (passed += users) > n)!
}

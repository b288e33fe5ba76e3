/**
 * The public part of a pilgrim's walk: the event's route between whole stations that they passed on past days. It does
 * not reveal where they began and ended or where they are.
 */
import type { StationedRoute } from '#shared/pilgrims/event-route.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { measuredRoute, type Route, type Station } from '#shared/core/map/walking-route.ts'
import type { Place } from '#shared/core/rules/geo.ts'
import { IS_ROUGH } from '#shared/points/totals/stored-days.ts'
import { stretchWalked } from '#shared/core/rules/along-route.ts'
import type { CardRoute } from './card-facts.ts'

/** Maximum number of positions read; with nine days a slot is a quarter of an hour. */
const SLOTS = 900
/** Nine days of ten hours with a point per second are 324,000. Beyond this only the first points are read. */
const MAX_POINTS = 500_000

type Given = Pick<ServiceContext, 'db' | 'calendar' | 'now'> & {
  readonly event: { readonly current: StationedRoute }
}

const midnightOf = ({ calendar, now }: Given): number => calendar.span(calendar.day(now()))[0]

/** Number of stored points of past days: the stretch changes only with it. */
export async function countPastPoints({ db, calendar, now }: Given, userId: string): Promise<number> {
  const [row] = await db.read(
    () => db.sql<[{ points: number }]>`
      SELECT coalesce(sum(points), 0)::float8 AS points FROM pilgrim_days
      WHERE user_id = ${userId} AND day < ${calendar.day(now())}::date`,
  )
  return row.points
}

/** The route with the pilgrim's stretch; null for an event without a route. */
export async function readCardRoute(given: Given, userId: string): Promise<CardRoute | null> {
  const { route, stations } = given.event.current
  if (route === null) return null
  const walked = await readPast(given, userId)
  const stretch = stretchWalked(measuredRoute(route), walked)
  const passed =
    stretch === null
      ? []
      : stations.filter(({ alongM }) => alongM >= stretch.fromKm * 1_000 && alongM <= stretch.toKm * 1_000)
  return cardRouteOf(route, stations, passed)
}

/** @param passed of the stations, in the order of the route; the stretch is between the first and the last */
export function cardRouteOf(
  route: Route,
  stations: readonly Station[],
  passed: readonly Station[],
): CardRoute {
  const [first, last] = [passed[0], passed.at(-1)]
  return {
    lines: route.lines,
    stations: stations.map((station) => ({ ...station, isPassed: passed.includes(station) })),
    passed: first === undefined || last === undefined || first === last ? [] : [between(route, first, last)],
  }
}

/** Distance between points of the line. A card shows no more detail. */
const STEP_M = 200

function between(route: Route, first: Station, last: Station): Place[] {
  const places: Place[] = []
  for (let alongM = first.alongM; alongM < last.alongM; alongM += STEP_M) places.push(route.at(alongM))
  return [...places, route.at(last.alongM)]
}

/** The first stored point of each of `SLOTS` time slots of the past days, in the order of time. */
const readPast = (given: Given, userId: string): Promise<readonly Place[]> =>
  given.db.read(
    () => given.db.sql<Place[]>`
      SELECT fix[2] AS lat, fix[3] AS lng
      FROM (
        SELECT min(ARRAY[p.t, p.lat, p.lng]) AS fix
        FROM (
          SELECT epoch_ms(g.recorded_at) AS t, g.lat, g.lng
          FROM gps_points g
          WHERE g.user_id = ${userId} AND g.kind IN ('c', 't') AND g.in_range AND NOT ${given.db.sql.unsafe(IS_ROUGH)}
            AND g.recorded_at < from_epoch_ms(${midnightOf(given)}) LIMIT ${MAX_POINTS}::int
        ) p
        CROSS JOIN (
          SELECT epoch_ms(first_seen) AS first_ms,
                 -- Nothing of today changes which places are looked at.
                 least(epoch_ms(last_seen), ${midnightOf(given)}::float8) AS last_ms
          FROM pilgrim_totals WHERE user_id = ${userId}
        ) w
        GROUP BY floor((p.t - w.first_ms) / greatest((w.last_ms - w.first_ms) / ${SLOTS}::int, 1))
      ) slots ORDER BY fix[1]`,
  )

/** `GET route`: the route and its stations, the same for as long as the process runs. */
import type { Config } from '#shared/runtime/config/config.ts'
import type { EventRoute } from '#shared/contracts/map.ts'
import { shownRoute } from '#shared/core/map/walking-route.ts'
import { roundKm } from '#shared/core/rules/rounding.ts'
import { Prepared } from '#shared/service/http/prepared-response.ts'

type Given = Pick<Config, 'route' | 'stations'>

const UNVERSIONED = 'public, max-age=300, stale-while-revalidate=86400'
const VERSIONED = 'public, max-age=31536000, immutable'

const routes = new WeakMap<object, EventRoute>()

function routeOf({ route, stations }: Given): EventRoute {
  if (route === null) return { version: null, km: 0, lines: [], stations: [] }
  return routes.getOrInsertComputed(route, () => {
    const content = {
      ...shownRoute(route),
      stations: stations.map(({ name, names, lat, lng, alongM }) => ({
        name,
        names: { ...names },
        lat,
        lng,
        route_km: roundKm(alongM * 1_000),
      })),
    }
    return { version: Bun.hash(JSON.stringify(content)).toString(36), ...content }
  })
}

/** Changes whenever the answer changes; null without a route. */
export const routeVersion = (given: Given): string | null => routeOf(given).version

export function createRouteAnswer(given: Given): (request: Request, v: string | undefined) => Response {
  const route = routeOf(given)
  const answer = new Prepared(JSON.stringify({ ok: true, data: route }))
  return (request, v) =>
    answer.respond(request, v !== undefined && v === route.version ? VERSIONED : UNVERSIONED)
}

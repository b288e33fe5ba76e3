/** `GET route`: the route and its stations. */
import { shownRouteOf, type StationedRoute } from '#shared/pilgrims/event-route.ts'
import type { EventRoute } from '#shared/contracts/map.ts'
import { Prepared } from '#shared/service/http/prepared-response.ts'

const UNVERSIONED = 'public, max-age=10, stale-while-revalidate=60'
const VERSIONED = 'public, max-age=31536000, immutable'
/** Another version was requested: this replica, or the client, is behind. */
const OTHER_VERSION = 'no-store'

/** @param event `current` is read for each answer, because the owner may set another route */
export function createRouteAnswer(event: {
  readonly current: StationedRoute
}): (request: Request, v: string | undefined) => Response {
  const answers = new WeakMap<EventRoute, Prepared>()
  return (request, v) => {
    const route = shownRouteOf(event.current)
    const answer = answers.getOrInsertComputed(
      route,
      () => new Prepared(JSON.stringify({ ok: true, data: route })),
    )
    return answer.respond(
      request,
      v === undefined ? UNVERSIONED : v === route.version ? VERSIONED : OTHER_VERSION,
    )
  }
}

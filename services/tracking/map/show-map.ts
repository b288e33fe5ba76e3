/** `GET data`. Operators get everybody's latest position, exact and with names. The public gets `PublicMap`. */
import type { ServiceContext } from '#shared/runtime/context.ts'
import { time } from '#shared/contracts/fields.ts'
import type { DataQuery, LiveMap } from '#shared/contracts/tracking.ts'
import type { Operator } from '#shared/security/admin-auth.ts'
import { maySeeId } from '#shared/security/pilgrim-identity.ts'
import { displayNames } from '../display-names.ts'
import type { LivePositions } from './live-map.ts'
import type { PublicMap } from './public-map.ts'

/** Creates the reader of the map. @throws Refusal 503 when the positions are out of date */
export function createMap(
  { config, db, now }: Pick<ServiceContext, 'config' | 'db' | 'now'>,
  live: LivePositions,
  publicMap: PublicMap,
): (query: DataQuery, operator: Operator | null) => Promise<LiveMap> {
  return async (query, operator) => ({
    points: operator === null ? await publicMap.read(query) : await namedPositions(query, operator),
    generated_at: time(now()),
  })

  async function namedPositions(query: DataQuery, operator: Operator): Promise<LiveMap['points']> {
    const positions = await live.read(query)
    const names = await displayNames(
      db,
      positions.map(({ userId }) => userId),
    )
    return positions.map(({ userId, lat, lng, t }) => ({
      id: live.publicId(userId),
      lat,
      lng,
      recorded_at: time(t),
      ...(maySeeId(config, operator, userId) ? { userId } : {}),
      display_name: names.get(userId) ?? null,
    }))
  }
}

/** The event of the public map's tests, and how a page applies responses. */
import { readConfig } from '#shared/runtime/config/config.ts'
import type { EventMap, EventMapDelta, MapCellEntry } from '#shared/contracts/map.ts'
import { createRoute } from '#shared/core/map/walking-route.ts'
import { firstEvent } from '#shared/pilgrims/event-settings.ts'
import { createLog } from '#shared/runtime/log.ts'

/** Twenty kilometres northward. */
export const route = createRoute([
  [
    { lat: 24, lng: 120.6 },
    { lat: 24 + 20_000 / 111_195, lng: 120.6 },
  ],
])
const station = (name: string, alongM: number) => ({ name, names: {}, alongM, ...route.at(alongM) })
const environment = readConfig({ EVENT_NAME: 'Walk', EVENT_MAP_CROWD: '5' })
const { parts } = environment.event
export const config = {
  ...environment,
  event: {
    ...environment.event,
    parts: { ...parts, name: { ...parts.name, ends_at: '2026-04-20T00:00:00.000Z' } },
    route,
    stations: [station('S', 0), station('M', 6_000), station('N', 15_000)],
  },
}
export const event = { current: firstEvent(config), refresh: async () => undefined }
export const log = createLog({}, () => undefined)

/** A follower's state, as a page keeps it. */
export function applied(held: EventMap, delta: EventMapDelta): EventMap {
  const name = ([lat, lng, zoom]: MapCellEntry) => `${lat} ${lng} ${zoom}`
  const cells = new Map(held.cells.map((cell) => [name(cell), cell]))
  for (const cell of delta.cells ?? [])
    if (cell[3] === 0) cells.delete(name(cell))
    else cells.set(name(cell), cell)
  return { ...held, ...delta, since: null, cells: [...cells.values()] } as EventMap
}
export const sorted = (map: EventMap): EventMap => ({
  ...map,
  cells: [...map.cells].sort((a, b) => a[0] - b[0] || a[1] - b[1]),
})

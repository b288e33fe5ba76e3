/** The base of every map: coasts and borders, and the stations of the route. */
import type { EventRoute } from '#shared/client/index.ts'
import type { Language } from '#shared/contracts/bot.ts'
import type { Station } from './draw-ground.ts'
import { type Bounds, worldX, worldY } from './projection.ts'
import { type Atlas, type AtlasShapes, atlasShapes } from './shapes.ts'

/** Taiwan's main island: the initial view before any data. */
export const LAND: Bounds = {
  west: worldX(119.9),
  north: worldY(25.4),
  east: worldX(122.1),
  south: worldY(21.85),
}

/** Loads coasts and borders, if the event has them. Without them a map shows only the route. */
export async function loadAtlas(
  address: string | undefined,
  use: (shapes: AtlasShapes) => void,
): Promise<void> {
  if (address === undefined) return
  try {
    const answer = await fetch(address)
    if (answer.ok) use(atlasShapes((await answer.json()) as Atlas))
  } catch {
    // Without a network: retried when it is back.
    addEventListener('online', () => void loadAtlas(address, use), { once: true })
  }
}

export const placedStations = (
  route: Pick<EventRoute, 'stations'> | null,
  language: Language,
): readonly Station[] =>
  (route?.stations ?? []).map(({ lat, lng, name, names, route_km: km }) => ({
    x: worldX(lng),
    y: worldY(lat),
    name: names[language] ?? name,
    km,
  }))

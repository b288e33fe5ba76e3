/** The operator's archive of map tiles. It may be larger than memory, so it is served from its file. */
import type { Config } from '#shared/runtime/config/config.ts'

export interface MapTiles {
  /** Path on the server; it contains a hash of the content, because browsers cache parts of it. */
  readonly path: string
  readonly file: string
}

/** @returns null: the event has no archive */
export async function mapTilesOf({ mapTiles }: Pick<Config, 'mapTiles'>): Promise<MapTiles | null> {
  if (mapTiles === null) return null
  const hasher = new Bun.CryptoHasher('sha1')
  for await (const part of Bun.file(mapTiles).stream()) hasher.update(part)
  return { path: `/assets/map-tiles-${hasher.digest('hex').slice(0, 13)}.pmtiles`, file: mapTiles }
}

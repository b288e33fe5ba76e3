/** Makes a small archive of vector tiles (PMTiles, version 3), with the layers of Protomaps' basemap. */
import { writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { GeoJSONVT } from '@maplibre/geojson-vt'
import { fromGeojsonVt } from '@maplibre/vt-pbf'
import type { FeatureCollection } from 'geojson'
import { zxyToTileId } from 'pmtiles'

const HEADER_BYTES = 127
/** Codes of the format: compression, and kind of tiles. */
const [GZIP, MVT] = [2, 1]

export interface ArchiveContent {
  readonly layers: Readonly<Record<string, FeatureCollection>>
  /** West, south, east, north. */
  readonly bounds: readonly [number, number, number, number]
  readonly zooms: readonly [least: number, most: number]
  readonly attribution: string
}

interface Tile {
  readonly id: number
  readonly bytes: Uint8Array
}

/** Writes the archive to a file. */
export function writeTilesArchive(file: string, content: ArchiveContent): void {
  const tiles = tilesOf(content)
  let offset = 0
  const entries = tiles.map(({ id, bytes }) => {
    const entry = { id, offset, length: bytes.length }
    offset += bytes.length
    return entry
  })
  const directory = gzipSync(directoryOf(entries))
  const metadata = gzipSync(
    JSON.stringify({
      attribution: content.attribution,
      vector_layers: Object.keys(content.layers).map((id) => ({ id, fields: {} })),
    }),
  )
  const header = headerOf(content, {
    directory: directory.length,
    metadata: metadata.length,
    data: offset,
    count: tiles.length,
  })
  writeFileSync(file, Buffer.concat([header, directory, metadata, ...tiles.map(({ bytes }) => bytes)]))
}

/** Tiles that have something in them, in the archive's order. */
function tilesOf({
  layers,
  bounds: [west, south, east, north],
  zooms: [least, most],
}: ArchiveContent): Tile[] {
  const indexes = Object.entries(layers).map(
    ([name, data]) => [name, new GeoJSONVT(data, { maxZoom: most, indexMaxZoom: most, buffer: 64 })] as const,
  )
  const tiles: Tile[] = []
  for (let z = least; z <= most; z++) {
    const x = (lng: number) => Math.floor(((lng + 180) / 360) * 2 ** z)
    const y = (lat: number) =>
      Math.floor((0.5 - Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / (2 * Math.PI)) * 2 ** z)
    for (let column = x(west); column <= x(east); column++)
      for (let row = y(north); row <= y(south); row++) {
        const found = indexes.flatMap(([name, index]) => {
          const tile = index.getTile(z, column, row)
          return tile === null ? [] : [[name, tile] as const]
        })
        if (found.length === 0) continue
        const pbf = fromGeojsonVt(Object.fromEntries(found), { version: 2, extent: 4096 })
        tiles.push({ id: zxyToTileId(z, column, row), bytes: gzipSync(pbf) })
      }
  }
  return tiles.sort((a, b) => a.id - b.id)
}

function varint(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80)
  return [...bytes, rest]
}

/** Columns, one after the other: differences of ids, runs, lengths, and 0 for an offset that follows the one before. */
function directoryOf(entries: readonly { readonly id: number; readonly length: number }[]): Uint8Array {
  const columns = [
    ...entries.map(({ id }, i) => id - (entries[i - 1]?.id ?? 0)),
    ...entries.map(() => 1),
    ...entries.map(({ length }) => length),
    ...entries.map((_, i) => (i === 0 ? 1 : 0)),
  ]
  return Uint8Array.from([entries.length, ...columns].flatMap(varint))
}

function headerOf(
  { bounds: [west, south, east, north], zooms: [least, most] }: ArchiveContent,
  lengths: Readonly<Record<'directory' | 'metadata' | 'data' | 'count', number>>,
): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.write('PMTiles')
  header[7] = 3
  const { directory, metadata, data, count } = lengths
  const [metadataAt, dataAt] = [HEADER_BYTES + directory, HEADER_BYTES + directory + metadata]
  const numbers = [
    HEADER_BYTES,
    directory,
    metadataAt,
    metadata,
    dataAt,
    0,
    dataAt,
    data,
    count,
    count,
    count,
  ]
  for (const [i, number] of numbers.entries()) header.writeBigUInt64LE(BigInt(number), 8 + i * 8)
  // Clustered: the tiles stand in the order of their ids.
  for (const [i, byte] of [1, GZIP, GZIP, MVT, least, most].entries()) header[96 + i] = byte
  const degrees = (value: number) => Math.round(value * 1e7)
  for (const [i, value] of [west, south, east, north].entries())
    header.writeInt32LE(degrees(value), 102 + i * 4)
  header[118] = least
  header.writeInt32LE(degrees((west + east) / 2), 119)
  header.writeInt32LE(degrees((south + north) / 2), 123)
  return header
}

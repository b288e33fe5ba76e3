/** The cells of the map: as stored, and as a plain count of points and latest positions. */
import type { Database } from '#shared/stores/db/db.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'
import { cellOf, type Counts, unpackCounts } from '#shared/core/map/cell-counts.ts'

/** By `zoom span start column/row`: points and pilgrims. */
export type Cells = Record<string, readonly [points: number, users: number]>

/** A point, or a latest position, in the area. */
export interface Placed {
  readonly t: number
  readonly lat: number
  readonly lng: number
}

/** The contents of the tiles; also checks each tile's sums and its separate list of pilgrims. */
export async function readCells({ sql }: Database): Promise<Cells> {
  const rows = await sql<TileRow[]>`
    SELECT zoom, span, zoom || ' ' || span || ' ' || (extract(epoch FROM start) * 1000)::bigint AS key, x, y,
           points::float8 AS points, users, encode(counts, 'base64') AS packed,
           encode(people, 'base64') AS apart
    FROM cell_tiles`
  const cells: Record<string, [number, number]> = {}
  for (const { zoom, span, key, x, y, points, users, packed, apart } of rows) {
    const counts = cellsIn(packed, x, y)
    let [allPoints, allUsers] = [0, 0]
    for (let i = 0; i < counts.length; i += 3) {
      const [mine, people] = [counts[i + 1]!, counts[i + 2]!]
      const cell = cellOf(counts[i]!, zoom)
      cells[`${key} ${cell.x}/${cell.y}`] = [mine, people]
      allPoints += mine
      allUsers += people
    }
    if (allPoints !== points || allUsers !== users)
      throw new Error(`tile ${key} ${x}/${y} says ${points}, ${users} and holds ${allPoints}, ${allUsers}`)
    const people = counts.flatMap((value, i) => {
      if (i % 3 > 0 || counts[i + 2] === 0) return []
      return [value, 0, counts[i + 2]!]
    })
    const isTileStored = zoom === 14 && span !== 'all'
    if (isTileStored ? !Bun.deepEquals(cellsIn(apart!, x, y), people) : apart !== null)
      throw new Error(`tile ${key} ${x}/${y} has others apart than ${people.join()}`)
  }
  return cells
}

interface TileRow {
  readonly zoom: number
  readonly span: string
  readonly key: string
  readonly x: number
  readonly y: number
  readonly points: number
  readonly users: number
  readonly packed: string
  readonly apart: string | null
}

const cellsIn = (packed: string, x: number, y: number): Counts =>
  unpackCounts(Uint8Array.fromBase64(packed), tileNumber(x, y) * 256 ** 2)

/** Interleaves the bits of row and column, the row's first. */
const tileNumber = (x: number, y: number): number => {
  const bits = (value: number) => value.toString(2).padStart(24, '0').split('')
  const rows = bits(y)
  return parseInt(
    bits(x)
      .map((bit, i) => `${rows[i]}${bit}`)
      .join(''),
    2,
  )
}

/** @param erased points of erased people: cells of zoom 18 by hour */
export function plainCells(
  points: readonly Placed[],
  latest: readonly Placed[],
  erased: readonly { hour: number; x: number; y: number; points: number }[],
  calendar: Calendar,
): Cells {
  const cells: Record<string, [number, number]> = {}
  const add = (t: number, zoom: number, x: number, y: number, count: number, users: number) => {
    const spans = [`hour ${calendar.hourStart(t)}`, `day ${calendar.span(calendar.day(t))[0]}`, 'all 0']
    for (const span of spans) {
      // Days are not stored at the finest zoom.
      if (zoom === 18 && span.startsWith('day')) continue
      const cell = (cells[`${zoom} ${span} ${x}/${y}`] ??= [0, 0])
      cell[0] += count
      cell[1] += users
    }
  }
  const place = ({ t, lat, lng }: Placed, count: number, users: number) => {
    // 0.2 degrees at zoom 6, halving.
    for (const zoom of [10, 14, 18]) {
      const perFifth = 2 ** (zoom - 6)
      add(
        t,
        zoom,
        Math.floor((lng * 5 + 900) * perFifth),
        Math.floor((lat * 5 + 450) * perFifth),
        count,
        users,
      )
    }
  }
  for (const point of points) place(point, 1, 0)
  for (const position of latest) place(position, 0, 1)
  for (const { hour, x, y, points: count } of erased)
    for (const zoom of [10, 14, 18]) {
      const width = 2 ** (18 - zoom)
      add(hour, zoom, Math.floor(x / width), Math.floor(y / width), count, 0)
    }
  return cells
}

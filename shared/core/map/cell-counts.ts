/**
 * Points and pilgrims by cell, as sorted lists that are merged, coarsened and packed. A cell is named by its Z-order:
 * the interleaved bits of its row and column. The ancestor n zooms above is this number without the last 2n bits, so a
 * list that is sorted at one zoom is sorted at all zooms.
 */
import type { Calendar } from '#shared/core/rules/calendar.ts'
import type { Place } from '#shared/core/rules/geo.ts'
import { type Cell, cellAt, MAX_ZOOM } from './cells.ts'

/** Triples of Z-order, points, pilgrims; ascending, each cell once, without empty cells. */
export type Counts = readonly number[]

/** A tile spans this many zooms: 256 × 256 cells. */
export const TILE_ZOOMS = 8
const TILE_CELLS = 4 ** TILE_ZOOMS

/** For each byte its bits with a zero between each two. */
const SPREAD = Array.from({ length: 256 }, (_, byte) => {
  let spread = 0
  for (let bit = 0; bit < 8; bit++) spread |= ((byte >> bit) & 1) << (2 * bit)
  return spread
})

const interleave = (x: number, y: number): number => SPREAD[x & 255]! | (SPREAD[y & 255]! << 1)

/** A cell's Z-order at its zoom. */
export const zOrder = ({ x, y }: Pick<Cell, 'x' | 'y'>): number =>
  interleave(x, y) +
  interleave(x >> 8, y >> 8) * TILE_CELLS +
  interleave(x >> 16, y >> 16) * TILE_CELLS * TILE_CELLS

/** For each byte its even bits in the lower half, its odd bits in the upper half. */
const GATHERED = Array.from({ length: 256 }, (_, byte) => {
  let gathered = 0
  for (let bit = 0; bit < 8; bit++) gathered |= ((byte >> bit) & 1) << ((bit >> 1) + 4 * (bit & 1))
  return gathered
})

/** Bit operations work on 32 bits, so Z-order is split at 24 bits: 12 of the column and 12 of the row. */
const STEP_BITS = 2 ** 24

/** The cell with a Z-order. */
export function cellOf(z: number, zoom: number): Cell {
  const high = Math.floor(z / STEP_BITS)
  const low = z - high * STEP_BITS
  return { zoom, x: (columnOf(high) << 12) | columnOf(low), y: (rowOf(high) << 12) | rowOf(low) }
}

const columnOf = (bits: number): number =>
  (GATHERED[bits & 255]! & 15) |
  ((GATHERED[(bits >> 8) & 255]! & 15) << 4) |
  ((GATHERED[bits >> 16]! & 15) << 8)
const rowOf = (bits: number): number =>
  (GATHERED[bits & 255]! >> 4) | (GATHERED[(bits >> 8) & 255]! & 240) | ((GATHERED[bits >> 16]! & 240) << 4)

/** Kinds of changes; the last two bits of a change, below the cell's Z-order. */
const POINT = 0
const ARRIVAL = 1
const DEPARTURE = 2
const REMOVAL = 3

/** Changes of cells of the finest zoom, by hour: new points, and pilgrims whose latest position moved. */
export class CellChanges {
  readonly #hours = new Map<number, number[]>()

  /** @param hour start of the hour, epoch milliseconds */
  addPoint = (hour: number, place: Place): void => this.#add(hour, place, POINT)
  removePoint = (hour: number, place: Place): void => this.#add(hour, place, REMOVAL)
  /** @param hour start of the hour of the pilgrim's latest position */
  addPilgrim = (hour: number, place: Place): void => this.#add(hour, place, ARRIVAL)
  removePilgrim = (hour: number, place: Place): void => this.#add(hour, place, DEPARTURE)

  #add(hour: number, { lat, lng }: Place, kind: number): void {
    let list = this.#hours.get(hour)
    if (list === undefined) this.#hours.set(hour, (list = []))
    list.push(zOrder(cellAt(lat, lng, MAX_ZOOM)) * 4 + kind)
  }

  /** All changes as one text (base64 of doubles); empty when there are none. */
  pack(): string {
    const lists = [...this.#hours]
    const numbers = new Float64Array(lists.reduce((length, [, list]) => length + 2 + list.length, 0))
    let filled = 0
    for (const [hour, list] of lists) {
      numbers.set([hour, list.length], filled)
      numbers.set(list, filled + 2)
      filled += 2 + list.length
    }
    return new Uint8Array(numbers.buffer).toBase64()
  }
}

type ChangesOfHour = readonly [hour: number, changes: Float64Array]

/** Unpacks changes; null when they are damaged. */
export function unpackChanges(packed: string): ChangesOfHour[] | null {
  const bytes = Uint8Array.fromBase64(packed)
  if (bytes.length % 8 !== 0) return null
  const numbers = new Float64Array(bytes.buffer)
  const hours: ChangesOfHour[] = []
  for (let i = 0; i < numbers.length;) {
    const [hour, length] = [numbers[i]!, numbers[i + 1]!]
    const list = numbers.subarray(i + 2, i + 2 + length)
    const isWhole =
      list.length === length && list.every((change) => change >= 0 && Number.isSafeInteger(change))
    if (!isWhole || !Number.isSafeInteger(hour)) return null
    hours.push([hour, list])
    i += 2 + length
  }
  return hours
}

/** Adds up changes, by hour. */
export const sumChanges = (changes: readonly ChangesOfHour[]): Map<number, Counts> =>
  new Map(
    [...Map.groupBy(changes, ([hour]) => hour)].map(([hour, some]) => [
      hour,
      count(some.map(([, list]) => list)),
    ]),
  )

function count(lists: readonly Float64Array[]): Counts {
  const all = new Float64Array(lists.reduce((length, list) => length + list.length, 0))
  let filled = 0
  for (const list of lists) {
    all.set(list, filled)
    filled += list.length
  }
  all.sort()
  const counts: number[] = []
  for (let i = 0; i < all.length;) {
    const z = Math.floor(all[i]! / 4)
    let points = 0
    let users = 0
    for (; i < all.length && Math.floor(all[i]! / 4) === z; i++) {
      const kind = all[i]! % 4
      if (kind === POINT || kind === REMOVAL) points += kind === POINT ? 1 : -1
      else users += kind === ARRIVAL ? 1 : -1
    }
    if (points !== 0 || users !== 0) counts.push(z, points, users)
  }
  return counts
}

/** Adds two lists of the same zoom. */
export function addCounts(a: Counts, b: Counts): Counts {
  if (a.length === 0) return b
  if (b.length === 0) return a
  const sum: number[] = []
  let [i, j] = [0, 0]
  while (i < a.length && j < b.length) {
    const [za, zb] = [a[i]!, b[j]!]
    let points = 0
    let users = 0
    if (za <= zb) {
      points += a[i + 1]!
      users += a[i + 2]!
      i += 3
    }
    if (zb <= za) {
      points += b[j + 1]!
      users += b[j + 2]!
      j += 3
    }
    if (points !== 0 || users !== 0) sum.push(Math.min(za, zb), points, users)
  }
  for (; i < a.length; i++) sum.push(a[i]!)
  for (; j < b.length; j++) sum.push(b[j]!)
  return sum
}

/** Sums a list into cells `zooms` levels up. */
export function coarsen(counts: Counts, zooms: number): Counts {
  if (zooms === 0) return counts
  const children = 4 ** zooms
  const coarse: number[] = []
  for (let i = 0; i < counts.length;) {
    const z = Math.floor(counts[i]! / children)
    let points = 0
    let users = 0
    for (; i < counts.length && Math.floor(counts[i]! / children) === z; i += 3) {
      points += counts[i + 1]!
      users += counts[i + 2]!
    }
    if (points !== 0 || users !== 0) coarse.push(z, points, users)
  }
  return coarse
}

/** Cuts a list into tiles, with Z-orders within each tile. @returns lists by Z-order of the tile, ascending */
export function tilesOf(counts: Counts): Map<number, Counts> {
  const tiles = new Map<number, Counts>()
  for (let i = 0; i < counts.length;) {
    const tile = Math.floor(counts[i]! / TILE_CELLS)
    const ofTile: number[] = []
    for (; i < counts.length && Math.floor(counts[i]! / TILE_CELLS) === tile; i += 3)
      ofTile.push(counts[i]! - tile * TILE_CELLS, counts[i + 1]!, counts[i + 2]!)
    tiles.set(tile, ofTile)
  }
  return tiles
}

/** Z-order of a tile's first cell in the whole grid. */
export const firstCellOf = (tile: Pick<Cell, 'x' | 'y'>): number => zOrder(tile) * TILE_CELLS

export function totalOf(counts: Counts): { readonly points: number; readonly users: number } {
  let points = 0
  let users = 0
  for (let i = 0; i < counts.length; i += 3) {
    points += counts[i + 1]!
    users += counts[i + 2]!
  }
  return { points, users }
}

// Packed: for each cell the difference of its Z-order from the previous one, its points and its pilgrims, as varints
// (seven bits per byte). Counts are zigzag-encoded: their sign is the last bit.

/** Maximum bytes of a number of 32 bits. */
const LONGEST = 5

class Writer {
  length = 0
  #last = 0

  constructor(readonly bytes: Uint8Array) {}

  cell(z: number, points: number, users: number): void {
    if (points === 0 && users === 0) return
    this.#put(z - this.#last)
    this.#put((points << 1) ^ (points >> 31))
    this.#put((users << 1) ^ (users >> 31))
    this.#last = z
  }

  #put(value: number): void {
    let rest = value >>> 0
    for (; rest > 127; rest >>>= 7) this.bytes[this.length++] = (rest & 127) | 128
    this.bytes[this.length++] = rest
  }
}

/** Iterates over packed cells; its fields are those of the current one. */
class Reader {
  points = 0
  users = 0
  #at = 0

  constructor(
    private readonly bytes: Uint8Array,
    public z = 0,
  ) {
    this.next()
  }

  /** Goes to the next cell; after the last one `z` is infinite. */
  next(): void {
    if (this.#at === this.bytes.length) {
      this.z = Infinity
      return
    }
    this.z += this.#take()
    const points = this.#take()
    const users = this.#take()
    this.points = (points >>> 1) ^ -(points & 1)
    this.users = (users >>> 1) ^ -(users & 1)
  }

  #take(): number {
    let byte = this.bytes[this.#at++]!
    if (byte < 128) return byte
    let value = byte & 127
    for (let shift = 7; byte > 127; shift += 7) {
      byte = this.bytes[this.#at++]!
      value |= (byte & 127) << shift
    }
    return value >>> 0
  }
}

/** Packs counts with Z-orders below 2^32, or adds them to packed ones. */
export function packCounts(counts: Counts, onto: Uint8Array = new Uint8Array()): Uint8Array {
  const writer = new Writer(new Uint8Array(onto.length + counts.length * LONGEST))
  const existing = new Reader(onto)
  for (let i = 0; i < counts.length; i += 3) {
    const z = counts[i]!
    for (; existing.z < z; existing.next()) writer.cell(existing.z, existing.points, existing.users)
    if (existing.z === z) {
      writer.cell(z, existing.points + counts[i + 1]!, existing.users + counts[i + 2]!)
      existing.next()
    } else writer.cell(z, counts[i + 1]!, counts[i + 2]!)
  }
  for (; existing.z < Infinity; existing.next()) writer.cell(existing.z, existing.points, existing.users)
  return writer.bytes.subarray(0, writer.length)
}

/** @param from Z-order that is added to the packed ones */
export function unpackCounts(packed: Uint8Array, from = 0): Counts {
  const counts: number[] = []
  for (const reader = new Reader(packed, from); reader.z < Infinity; reader.next())
    counts.push(reader.z, reader.points, reader.users)
  return counts
}

/** Packed counts without the points. */
export function packPeople(packed: Uint8Array): Uint8Array {
  const writer = new Writer(new Uint8Array(packed.length))
  for (const reader = new Reader(packed); reader.z < Infinity; reader.next())
    writer.cell(reader.z, 0, reader.users)
  return writer.bytes.subarray(0, writer.length)
}

// Counts by cell are stored in tiles of 256 × 256 cells, at three zooms, by hour, by day and for all time.

export type Span = 'hour' | 'day' | 'all'

/** Distance between stored zooms. Zooms between are added up from the finer one, at most 64 cells for each cell. */
const STEP = 4
/** The stored zooms, finest first. */
export const STORED_ZOOMS: readonly number[] = [MAX_ZOOM, MAX_ZOOM - STEP, MAX_ZOOM - 2 * STEP]

/**
 * Whether tiles of a span are stored at a zoom. The finest zoom has no day tiles: they would add half again to what a
 * flush writes, and readers of the finest zoom need only a few tiles.
 */
export const isTileStored = (zoom: number, span: Span): boolean => span !== 'day' || zoom !== MAX_ZOOM

/** Front and tail are read at this zoom, by hours and days. There, pilgrims are also stored without points. */
export const FRONT_AND_TAIL_ZOOM = MAX_ZOOM - STEP

/** Whether tiles of a span at a zoom also store the pilgrims without the points. */
export const storesPeople = ({ zoom, span }: Pick<TileName, 'zoom' | 'span'>): boolean =>
  zoom === FRONT_AND_TAIL_ZOOM && span !== 'all'

/** Cells and period of a tile. `x` and `y` are those of the tile: a cell eight zooms above. */
export interface TileName {
  readonly zoom: number
  readonly span: Span
  /** Start of the local hour or day, epoch milliseconds; 0 for all time. */
  readonly startMs: number
  readonly x: number
  readonly y: number
}

export interface Tile extends TileName {
  /** Z-orders are within the tile. */
  readonly counts: Counts
}

/** A tile's name as a key. */
export const tileKey = ({ zoom, span, startMs, y, x }: TileName): string =>
  `${zoom} ${span} ${startMs} ${y} ${x}`

/** A list at the finest zoom, cut into the tiles of every zoom. */
function cut(finest: Counts): Pick<Tile, 'zoom' | 'x' | 'y' | 'counts'>[] {
  let counts = finest
  return STORED_ZOOMS.flatMap((zoom) => {
    if (zoom !== MAX_ZOOM) counts = coarsen(counts, STEP)
    return [...tilesOf(counts)].map(([z, mine]) => ({ ...cellOf(z, zoom - TILE_ZOOMS), zoom, counts: mine }))
  })
}

/** The tiles of one span, from its counts at the finest zoom. */
export const tilesAt = (span: Span, startMs: number, finest: Counts): Tile[] =>
  cut(finest)
    .filter(({ zoom }) => isTileStored(zoom, span))
    .map((piece) => ({ ...piece, span, startMs }))

/** The tiles of all spans, from counts at the finest zoom by start of the hour. Computed in turns (`inTurns`). */
export function* tilesOfHours(
  hours: ReadonlyMap<number, Counts>,
  calendar: Calendar,
): Generator<void, Tile[]> {
  const days = new Map<number, Counts>()
  let all: Counts = []
  for (const [hour, counts] of hours) {
    yield
    const day = calendar.dayStart(hour)
    days.set(day, addCounts(days.get(day) ?? [], counts))
  }
  for (const counts of days.values()) all = addCounts(all, counts)
  // Often a day has one hour only, and its list is the same: each list is cut once.
  const cuts = new Map<Counts, ReturnType<typeof cut>>()
  const tiles: Tile[] = []
  const spans = [
    ...[...hours].map((hour) => ['hour', ...hour] as const),
    ...[...days].map((day) => ['day', ...day] as const),
    ['all', 0, all] as const,
  ]
  for (const [span, startMs, counts] of spans) {
    yield
    for (const piece of cuts.getOrInsertComputed(counts, () => cut(counts)))
      if (isTileStored(piece.zoom, span)) tiles.push({ ...piece, span, startMs })
  }
  return tiles
}

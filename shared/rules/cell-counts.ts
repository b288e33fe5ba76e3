/**
 * Points and pilgrims by cell, as sorted lists that are merged, coarsened and packed. A cell is its place in Z-order:
 * the bits of its row and column in turn, so that its ancestor n zooms above is that number without the last 2n bits,
 * and a list in order at one zoom is in order at all of them.
 */
import { type Cell, cellAt, MAX_ZOOM } from './cells.ts'

/** Triples of Z-order, points, pilgrims; ascending, each cell once, none with nothing in it. */
export type Counts = readonly number[]

interface Place {
  readonly lat: number
  readonly lng: number
}

/** A tile is a square of this many zooms: 256 × 256 cells. */
export const TILE_ZOOMS = 8
const TILE_CELLS = 4 ** TILE_ZOOMS

/** Each of the 256 bytes with a zero between its bits. */
const SPREAD = Array.from({ length: 256 }, (_, byte) => {
  let spread = 0
  for (let bit = 0; bit < 8; bit++) spread |= ((byte >> bit) & 1) << (2 * bit)
  return spread
})

const interleave = (x: number, y: number): number => SPREAD[x & 255]! | (SPREAD[y & 255]! << 1)

/** A cell's place in Z-order among those of its zoom. */
export const zOrder = ({ x, y }: Pick<Cell, 'x' | 'y'>): number =>
  interleave(x, y) +
  interleave(x >> 8, y >> 8) * TILE_CELLS +
  interleave(x >> 16, y >> 16) * TILE_CELLS * TILE_CELLS

/** Of each byte its even bits, and its odd bits four places above. */
const GATHERED = Array.from({ length: 256 }, (_, byte) => {
  let gathered = 0
  for (let bit = 0; bit < 8; bit++) gathered |= ((byte >> bit) & 1) << ((bit >> 1) + 4 * (bit & 1))
  return gathered
})

/** The cell with a place in Z-order. */
export function cellOf(z: number, zoom: number): Cell {
  let x = 0
  let y = 0
  for (let scale = 1, rest = z; rest > 0; scale *= 16, rest = Math.floor(rest / 256)) {
    const gathered = GATHERED[rest % 256]!
    x += (gathered & 15) * scale
    y += (gathered >> 4) * scale
  }
  return { zoom, x, y }
}

/** What a change is; it stands in the last two bits beside the cell. */
const POINT = 0
const ARRIVAL = 1
const DEPARTURE = 2

/** What happened in cells of the finest zoom, by hour: points that came, pilgrims whose latest position moved. */
export class CellChanges {
  readonly #hours = new Map<number, number[]>()

  /** @param hour start of the hour, epoch milliseconds */
  addPoint = (hour: number, place: Place): void => this.#add(hour, place, POINT)
  /** @param hour that of the pilgrim's latest position */
  addPilgrim = (hour: number, place: Place): void => this.#add(hour, place, ARRIVAL)
  removePilgrim = (hour: number, place: Place): void => this.#add(hour, place, DEPARTURE)

  #add(hour: number, { lat, lng }: Place, what: number): void {
    let list = this.#hours.get(hour)
    if (list === undefined) this.#hours.set(hour, (list = []))
    list.push(zOrder(cellAt(lat, lng, MAX_ZOOM)) * 4 + what)
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

/** What packed changes come to, by hour. */
export function sumChanges(packed: readonly string[]): Map<number, Counts> {
  const hours = new Map<number, Float64Array[]>()
  for (const text of packed) {
    const numbers = new Float64Array(Uint8Array.fromBase64(text).buffer)
    for (let i = 0; i < numbers.length;) {
      const [hour, length] = [numbers[i]!, numbers[i + 1]!]
      const lists = hours.get(hour)
      const list = numbers.subarray(i + 2, i + 2 + length)
      if (lists === undefined) hours.set(hour, [list])
      else lists.push(list)
      i += 2 + length
    }
  }
  return new Map([...hours].map(([hour, lists]) => [hour, count(lists)]))
}

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
      const what = all[i]! % 4
      if (what === POINT) points++
      else users += what === ARRIVAL ? 1 : -1
    }
    if (points !== 0 || users !== 0) counts.push(z, points, users)
  }
  return counts
}

/** The sum of two lists of one zoom. */
export function addCounts(a: Counts, b: Counts): Counts {
  if (a.length === 0) return b
  if (b.length === 0) return a
  const sum: number[] = []
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    const [za, zb] = [a[i] ?? Infinity, b[j] ?? Infinity]
    const z = Math.min(za, zb)
    let points = 0
    let users = 0
    if (za === z) {
      points += a[i + 1]!
      users += a[i + 2]!
      i += 3
    }
    if (zb === z) {
      points += b[j + 1]!
      users += b[j + 2]!
      j += 3
    }
    if (points !== 0 || users !== 0) sum.push(z, points, users)
  }
  return sum
}

/** The same by the cells that many zooms above. */
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

/** Cuts a list into tiles, with Z-orders within the tile. @returns by Z-order of the tile, ascending */
export function tilesOf(counts: Counts): Map<number, Counts> {
  const tiles = new Map<number, Counts>()
  for (let i = 0; i < counts.length;) {
    const tile = Math.floor(counts[i]! / TILE_CELLS)
    const mine: number[] = []
    for (; i < counts.length && Math.floor(counts[i]! / TILE_CELLS) === tile; i += 3)
      mine.push(counts[i]! - tile * TILE_CELLS, counts[i + 1]!, counts[i + 2]!)
    tiles.set(tile, mine)
  }
  return tiles
}

/** A tile's list with Z-orders of the whole grid again. */
export function untiled(tile: number, counts: Counts): Counts {
  return counts.map((value, i) => (i % 3 === 0 ? tile * TILE_CELLS + value : value))
}

/** All points and all pilgrims of a list. */
export function totalOf(counts: Counts): { readonly points: number; readonly users: number } {
  let points = 0
  let users = 0
  for (let i = 0; i < counts.length; i += 3) {
    points += counts[i + 1]!
    users += counts[i + 2]!
  }
  return { points, users }
}

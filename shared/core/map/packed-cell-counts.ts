/**
 * Counts by cell as bytes: for each cell the difference of its Z-order from the previous one, its points and its
 * pilgrims, as varints (seven bits per byte). Counts are zigzag-encoded: their sign is the last bit.
 */
import type { Counts } from './cell-counts.ts'

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
  const held = new Reader(onto)
  for (let i = 0; i < counts.length; i += 3) {
    const z = counts[i]!
    for (; held.z < z; held.next()) writer.cell(held.z, held.points, held.users)
    if (held.z === z) {
      writer.cell(z, held.points + counts[i + 1]!, held.users + counts[i + 2]!)
      held.next()
    } else writer.cell(z, counts[i + 1]!, counts[i + 2]!)
  }
  for (; held.z < Infinity; held.next()) writer.cell(held.z, held.points, held.users)
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

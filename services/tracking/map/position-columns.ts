/** The latest position of each pilgrim, in columns: the garbage collector would stop at half a million objects. */
import { type Moved, userHash } from '#shared/kv/kv.ts'
import { cellAt, MAX_ZOOM } from '#shared/map/cells.ts'

const FIRST_ROWS = 1_024
const HASH_DIGITS = 13
const doubled = <Column extends Float64Array | Int32Array>(column: Column, larger: Column): Column => {
  larger.set(column)
  return larger
}

/** What `hashes` holds of a hash (`userHash`). */
export const beginningOf = (hash: string): number => parseInt(hash.slice(0, HASH_DIGITS), 16)

export class PositionColumns {
  /** By row, as all columns; empty where nobody is. */
  readonly userIds: string[] = []
  /** Degrees. */
  lats = new Float64Array(FIRST_ROWS)
  lngs = new Float64Array(FIRST_ROWS)
  /** Column and row of the finest cell. */
  xs = new Int32Array(FIRST_ROWS)
  ys = new Int32Array(FIRST_ROWS)
  /** When the pilgrim was there, epoch milliseconds. */
  times = new Float64Array(FIRST_ROWS)
  /** The map shows the position from then on. */
  hiddenUntil = new Float64Array(FIRST_ROWS)
  /** First {@link HASH_DIGITS} hexadecimal digits of the hash of the user id, as a number. */
  hashes = new Float64Array(FIRST_ROWS)
  readonly #rows = new Map<string, number>()
  readonly #free: number[] = []

  /** Number of pilgrims. */
  get size(): number {
    return this.#rows.size
  }

  /** @returns whether it was not known yet */
  set({ userId, lat, lng, t, hiddenUntilMs }: Moved): boolean {
    const row = this.#rows.get(userId) ?? this.#rowFor(userId)
    const isKnown =
      this.times[row] === t &&
      this.lats[row] === lat &&
      this.lngs[row] === lng &&
      this.hiddenUntil[row] === hiddenUntilMs
    if (isKnown) return false
    const { x, y } = cellAt(lat, lng, MAX_ZOOM)
    this.lats[row] = lat
    this.lngs[row] = lng
    this.xs[row] = x
    this.ys[row] = y
    this.times[row] = t
    this.hiddenUntil[row] = hiddenUntilMs
    return true
  }

  delete(userId: string): void {
    const row = this.#rows.get(userId)
    if (row === undefined) return
    this.#rows.delete(userId)
    this.userIds[row] = ''
    this.hiddenUntil[row] = Infinity
    this.#free.push(row)
  }

  #rowFor(userId: string): number {
    const row = this.#free.pop() ?? this.userIds.length
    if (row === this.times.length) this.#grow()
    this.userIds[row] = userId
    this.hashes[row] = beginningOf(userHash(userId))
    this.#rows.set(userId, row)
    // No position is like this one.
    this.times[row] = NaN
    return row
  }

  #grow(): void {
    const rows = 2 * this.times.length
    this.lats = doubled(this.lats, new Float64Array(rows))
    this.lngs = doubled(this.lngs, new Float64Array(rows))
    this.xs = doubled(this.xs, new Int32Array(rows))
    this.ys = doubled(this.ys, new Int32Array(rows))
    this.times = doubled(this.times, new Float64Array(rows))
    this.hashes = doubled(this.hashes, new Float64Array(rows))
    this.hiddenUntil = doubled(this.hiddenUntil, new Float64Array(rows))
  }
}

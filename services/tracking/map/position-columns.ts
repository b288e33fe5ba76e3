/**
 * The latest position of each pilgrim, in columns: half a million objects would make the garbage collector stop this
 * process.
 */
import { type Moved, userHash } from '#shared/kv/kv.ts'
import { cellAt, MAX_ZOOM } from '#shared/map/cells.ts'

const HASH_DIGITS = 13
/** What `hashes` holds of a hash (`userHash`): its first digits, as a number. */
export const beginningOf = (hash: string): number => parseInt(hash.slice(0, HASH_DIGITS), 16)

export class PositionColumns {
  /** By row, as all columns; empty where somebody was erased. */
  readonly userIds: string[] = []
  readonly hashes: number[] = []
  /** Degrees. */
  readonly lats: number[] = []
  readonly lngs: number[] = []
  /** Column and row of the finest cell. */
  readonly xs: number[] = []
  readonly ys: number[] = []
  /** When the pilgrim was there, epoch milliseconds. */
  readonly times: number[] = []
  /** The map shows the position from then on. */
  readonly hiddenUntil: number[] = []
  readonly #rows = new Map<string, number>()

  /** Number of pilgrims. */
  get size(): number {
    return this.#rows.size
  }

  /** @returns whether it was not known yet */
  set({ userId, lat, lng, t, hiddenUntilMs }: Moved): boolean {
    const known = this.#rows.get(userId)
    const isKnown =
      known !== undefined &&
      this.times[known] === t &&
      this.lats[known] === lat &&
      this.lngs[known] === lng &&
      this.hiddenUntil[known] === hiddenUntilMs
    if (isKnown) return false
    const row = known ?? this.userIds.length
    if (known === undefined) {
      this.#rows.set(userId, row)
      this.userIds[row] = userId
      this.hashes[row] = beginningOf(userHash(userId))
    }
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
  }
}

/** Makes one way of the lines of a file, which draw it in pieces, in any order and direction. */
import { distanceMm, type Place } from '#shared/core/rules/geo.ts'

type Line = readonly Place[]

/** Lines whose ends are at most this far apart (m) are one line: ends that were drawn by hand. */
const JOINED_M = 100

const metres = (a: Place, b: Place): number => distanceMm(a, b) / 1_000

/** The length of a line, metres. */
export const lengthOf = (line: Line): number =>
  line.reduce((sum, place, i) => (i === 0 ? 0 : sum + metres(line[i - 1]!, place)), 0)

interface Piece {
  readonly line: Line
  readonly isReversed: boolean
}

const turned = ({ line, isReversed }: Piece): Piece => ({ line: line.toReversed(), isReversed: !isReversed })

/**
 * Puts lines in walking order: each is added, in the direction that fits, to the end of the way that it is nearest to.
 * The way has the direction in which most of its length is drawn.
 * @returns one line, or more where gaps are wider than {@link JOINED_M}
 */
export function joinLines(lines: readonly Line[]): Place[][] {
  const [first, ...others] = lines.filter((line) => line.length > 1)
  if (first === undefined) return []
  let way: Piece[] = [{ line: first, isReversed: false }]
  const left = new Set(others)
  while (left.size > 0) {
    const [start, end] = [way[0]!.line[0]!, way.at(-1)!.line.at(-1)!]
    let best = { gapM: Infinity, line: first, atEnd: true, isReversed: false }
    // Of equal gaps the first counts: the order and the direction of the file, after what is there.
    for (const line of left)
      for (const [atEnd, isReversed] of [
        [true, false],
        [true, true],
        [false, false],
        [false, true],
      ] as const) {
        const gapM = metres(atEnd ? end : start, atEnd === isReversed ? line.at(-1)! : line[0]!)
        if (gapM < best.gapM) best = { gapM, line, atEnd, isReversed }
      }
    left.delete(best.line)
    const as: Piece = { line: best.line, isReversed: false }
    const piece = best.isReversed ? turned(as) : as
    way = best.atEnd ? [...way, piece] : [piece, ...way]
  }
  const against = way.reduce((sum, { line, isReversed }) => sum + lengthOf(line) * (isReversed ? 1 : -1), 0)
  if (against > 0) way = way.toReversed().map(turned)
  const joined: Place[][] = []
  for (const { line } of way) {
    const last = joined.at(-1)
    if (last !== undefined && metres(last.at(-1)!, line[0]!) <= JOINED_M) last.push(...line)
    else joined.push([...line])
  }
  return joined
}

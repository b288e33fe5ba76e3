/** Joins the lines of a file, drawn in pieces in any order and direction, into one route. */
import { distanceMm, type Place } from '#shared/core/rules/geo.ts'

type Line = readonly Place[]

/** Ends at most this far apart (m) are joined: they were drawn by hand. */
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
 * Puts lines in walking order: each line is appended, in the direction that fits, at the end of the route it is nearest
 * to. The result has the direction in which most of its length was drawn.
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
    // Among equal gaps the first wins: the file's order and direction, appended at the end.
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

/**
 * The marks of the map, as one drawing for canvas and legend, in 24 × 24 units; `at` is the point that marks the place.
 */

export type Mark = 'palanquin' | 'front' | 'middle' | 'tail' | 'station' | 'me'

interface Drawing {
  readonly fill: string
  /** Cut out in the colour of the ground. */
  readonly cut?: string
  readonly at: readonly [number, number]
}

export const MARKS: Readonly<Record<Mark | 'baton', Drawing>> = {
  // A palanquin's roof over its body.
  palanquin: {
    fill: 'M12 1l2 3c3 1 6 1 9 1l-2 4H3L1 5c3 0 6 0 9-1zM4 10h16v8H4zM2 19h20v3H2z',
    cut: 'M9 12h6v6H9z',
    at: [12, 22],
  },
  // Instead of the palanquin: a torch, as carried in a relay.
  baton: { fill: 'M8 10h8l-2 13h-4zM12 0l4 9H8z', at: [12, 23] },
  // A banner on its pole, as carried at the front of a procession.
  front: { fill: 'M4 1h2v22H4zM6 2c5-2 8 2 15 0l-3 5 3 5c-7 2-10-2-15 0z', at: [5, 23] },
  // A ring: the middle of the walkers is not an object.
  middle: {
    fill: 'M12 3a9 9 0 1 1 0 18a9 9 0 1 1 0-18z',
    cut: 'M12 8a4 4 0 1 1 0 8a4 4 0 1 1 0-8z',
    at: [12, 12],
  },
  // A lantern, as carried at the end.
  tail: {
    fill: 'M11 0h2v4h-2zM8 4h8v2H8zM7 7h10c3 3 3 7 0 10H7c-3-3-3-7 0-10zM8 18h8v2H8zM11 20h2v4h-2z',
    cut: 'M11 9h2v6h-2z',
    at: [12, 24],
  },
  // A temple's gate with its roofs.
  station: {
    fill: 'M12 0l2 2c2 1 5 1 7 0-1 3-3 4-3 4H6S4 5 3 2c2 1 5 1 7 0zM7 7h10v2H7zM1 9c3 1 5 1 7 1h8c2 0 4 0 7-1-1 3-3 4-4 4H5S2 12 1 9zM5 14h2.500v9H5zM10 14h1.500v9H10zM12.500 14H14v9h-1.500zM16.500 14H19v9h-2.500z',
    at: [12, 12],
  },
  me: { fill: 'M12 4a8 8 0 1 1 0 16a8 8 0 1 1 0-16z', at: [12, 12] },
}

/**
 * A mark in a text. It has no accessible name. @param isRelay whether a baton leads the event instead of a palanquin
 */
export function MarkSymbol({ mark, isRelay = false }: { readonly mark: Mark; readonly isRelay?: boolean }) {
  const { fill, cut } = MARKS[isRelay && mark === 'palanquin' ? 'baton' : mark]
  return (
    <svg class={`mark mark-${mark}`} viewBox="0 0 24 24" aria-hidden="true">
      <path d={fill} fill={`var(--mark-${mark})`} />
      {cut === undefined ? null : <path d={cut} fill="var(--surface)" />}
    </svg>
  )
}

/** Steps of a crowd, from few to many. */
export const CROWD_STEPS = [1, 2, 3, 4, 5] as const

/** Pilgrims in a cell at which each step begins. Cells with different printed numbers also differ in colour. */
export const STEP_FROM = [0, 10, 50, 250, 1_000] as const

/** Step of a number of pilgrims. */
export const crowdStep = (pilgrims: number): number => STEP_FROM.findLastIndex((from) => pilgrims >= from) + 1

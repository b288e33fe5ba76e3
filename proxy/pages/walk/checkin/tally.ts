/**
 * How many check-ins the service has counted, as far as this device knows. A reading of the profile and a check-in that
 * is being sent race each other: a figure that was read meanwhile may have the check-in or not, so it is not taken.
 */
export interface Tally {
  readonly counted: number
  /** Changes whenever a check-in is sent and whenever it is settled. */
  readonly turn: number
  /** A check-in was sent whose answer did not arrive: the service may have counted it. */
  readonly inDoubt: boolean
}

export const tallyOf = (counted: number): Tally => ({ counted, turn: 0, inDoubt: false })

export const sending = (tally: Tally): Tally => ({ ...tally, turn: tally.turn + 1, inDoubt: true })

/**
 * The service has refused it, and it waits.
 * @param before the tally before it was sent: an earlier attempt may have arrived
 */
export const refused = (tally: Tally, before: Tally): Tally => ({
  ...tally,
  turn: tally.turn + 1,
  inDoubt: before.inDoubt,
})

/** It no longer waits: the service has it, or will never take it. */
export const settled = (tally: Tally, counts: boolean): Tally => ({
  counted: tally.counted + (counts ? 1 : 0),
  turn: tally.turn + 1,
  inDoubt: false,
})

/**
 * The service's figure was read.
 * @param asked the tally when it was asked for
 */
export const figureRead = (tally: Tally, asked: Tally, figure: number): Tally =>
  tally.inDoubt || asked.inDoubt || tally.turn !== asked.turn ? tally : { ...tally, counted: figure }

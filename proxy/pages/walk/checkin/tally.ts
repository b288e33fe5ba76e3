/**
 * Number of check-ins that the service has counted, as far as this device knows. A profile read while a
 * check-in is being sent may or may not include that check-in, so its figure is ignored.
 */
export interface Tally {
  readonly counted: number
  /** Changes whenever a check-in is sent and whenever it is settled. */
  readonly turn: number
  /** A check-in was sent and its response did not arrive: the service may have counted it. */
  readonly inDoubt: boolean
}

export const tallyOf = (counted: number): Tally => ({ counted, turn: 0, inDoubt: false })

export const sending = (tally: Tally): Tally => ({ ...tally, turn: tally.turn + 1, inDoubt: true })

/**
 * The service rejected the check-in, which stays queued.
 * @param before the tally before it was sent: an earlier attempt may have arrived
 */
export const refused = (tally: Tally, before: Tally): Tally => ({
  ...tally,
  turn: tally.turn + 1,
  inDoubt: before.inDoubt,
})

/** The check-in left the queue: the service has stored it or rejected it for good. */
export const settled = (tally: Tally, counts: boolean): Tally => ({
  counted: tally.counted + (counts ? 1 : 0),
  turn: tally.turn + 1,
  inDoubt: false,
})

/**
 * The profile was read.
 * @param asked the tally when the request was sent
 */
export const figureRead = (tally: Tally, asked: Tally, figure: number): Tally =>
  tally.inDoubt || asked.inDoubt || tally.turn !== asked.turn ? tally : { ...tally, counted: figure }

/** Counters of the crowd's requests and the service's responses. */

export interface Tally {
  /** Points measured by phones, including check-ins. */
  recorded: number
  /** Points that the service has stored durably. */
  points: number
  checkIns: number
  duplicates: number
  readonly rejected: Map<string, number>
  photos: number
  followers: number
  surveys: number
  feedback: number
  /** Other calls that succeeded: profiles, consents, phone numbers, reports, statuses, messages to the bot. */
  others: number
  /** Other pending calls. */
  callsWaiting: number
  /** Failures followed by another attempt, and permanent rejections, by code. */
  readonly retried: Map<string, number>
  readonly refused: Map<string, number>
}

export const createTally = (): Tally => ({
  recorded: 0,
  points: 0,
  checkIns: 0,
  duplicates: 0,
  rejected: new Map(),
  photos: 0,
  followers: 0,
  surveys: 0,
  feedback: 0,
  others: 0,
  callsWaiting: 0,
  retried: new Map(),
  refused: new Map(),
})

export const add = (counts: Map<string, number>, name: string, count = 1): void => {
  counts.set(name, (counts.get(name) ?? 0) + count)
}

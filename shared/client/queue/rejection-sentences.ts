/** Sentences to the reasons for which `track/sync` rejects a point. */
import type { PointRejection } from '../api.ts'

const SENTENCES: Readonly<Partial<Record<PointRejection, string>>> = {
  'no-timestamp': 'The point has no time.',
  'invalid-timestamp': 'The time of the point cannot be read.',
  'in-seconds': 'The time of the point is in seconds; it must be in milliseconds.',
  'in-the-future': 'The time of the point lies in the future: the clock of the device is wrong.',
  'too-old': 'The point is older than the service accepts.',
  'out-of-bounds': 'There is no such place on Earth: lat or lng is out of range.',
  'invalid-position': 'The place of the point cannot be read.',
  'invalid-field': 'Another field of the point is wrong.',
}

/** A sentence for people. */
export const sentenceOf = (reason: PointRejection): string =>
  SENTENCES[reason] ?? `The service does not take the point (${reason}).`

/** Whether the pilgrims walk as one procession. A pure function. */

/** A procession that is longer does not pass a station: a few people are somewhere before it and behind it. */
const LONGEST_KM = 15

/** Whether those who walk are too far from each other to be told of as one procession; kilometres along the route. */
export const isScattered = (front: number, tail: number | null): boolean =>
  tail !== null && front - tail > LONGEST_KM

/** Stretches of the way without a network: hills, river bridges, and fields far from a mast. Kilometres of the way. */
const DEAD_ZONES: readonly (readonly [fromKm: number, toKm: number])[] = [
  [17.5, 20],
  [31, 34.5],
  [56, 58.5],
  [104.5, 108],
  [122.5, 127],
  [159, 164],
  [183, 191],
  [210, 220],
  [262, 267],
  [288, 294.5],
]

/** Whether a phone has a network at a kilometre. */
export const hasNetwork = (km: number): boolean =>
  DEAD_ZONES.every(([fromKm, toKm]) => km < fromKm || km >= toKm)

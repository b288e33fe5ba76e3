/** The palette: one family of colours per level, gold for all. */

export interface Palette {
  /** Almost black, for edges and distant hills. */
  readonly deep: string
  /** The main colour. */
  readonly base: string
  /** Light behind the track. */
  readonly glow: string
}

const PALETTES: readonly Palette[] = [
  { deep: '#260d08', base: '#7a2c15', glow: '#e07a3a' }, // ember
  { deep: '#20140b', base: '#664425', glow: '#c39457' }, // earth
  { deep: '#261a04', base: '#866010', glow: '#ecc04a' }, // amber
  { deep: '#270c1c', base: '#83314f', glow: '#e592ae' }, // plum blossom
  { deep: '#05211d', base: '#13605a', glow: '#55c7b0' }, // jade
  { deep: '#0a1230', base: '#28438c', glow: '#7aa5ef' }, // indigo
  { deep: '#0b2011', base: '#2c6639', glow: '#8ccb82' }, // pine
  { deep: '#190d2f', base: '#532f8a', glow: '#b192ec' }, // royal purple
  { deep: '#2a0510', base: '#9c1530', glow: '#f5ad62' }, // cinnabar
]

/** Colours of a level, 1 to 9. */
export const paletteOf = (level: number): Palette => PALETTES[level - 1]!

export const GOLD = '#f3d38a'
export const GOLD_LIGHT = '#fff3d3'
export const GOLD_DEEP = '#c8963c'
export const IVORY = '#fdf8ec'
/** The vermilion of seals. */
export const SEAL = '#b3231d'

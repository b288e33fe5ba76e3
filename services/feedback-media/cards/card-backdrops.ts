/** Colours and backgrounds: evening hills for the share card, a feast for the achievement card. */

export interface Palette {
  /** Almost black, for edges and distant hills. */
  readonly deep: string
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

export const paletteOf = (level: number): Palette => PALETTES[level - 1]!

export const GOLD = '#f3d38a'
export const GOLD_LIGHT = '#fff3d3'
export const GOLD_DEEP = '#c8963c'
export const IVORY = '#fdf8ec'
/** The vermilion of seals. */
export const SEAL = '#b3231d'

const SIZE = 'xmlns="http://www.w3.org/2000/svg" width="1200" height="630" viewBox="0 0 1200 630"'

const HILLS = [
  [
    'M0 500 C 130 440, 220 470, 330 430 S 560 400, 690 452 S 900 380, 1010 420 S 1140 440, 1200 400 V630 H0Z',
    0.28,
  ],
  ['M0 548 C 160 490, 270 540, 420 500 S 650 520, 800 492 S 1040 520, 1200 470 V630 H0Z', 0.45],
  ['M0 594 C 200 556, 380 590, 560 566 S 900 590, 1200 548 V630 H0Z', 0.6],
] as const

/** Circles of light around the map. Flat colours compress better than a gradient. */
const light = (x: number, y: number, colour: string): string =>
  [560, 460, 370, 290]
    .map((r) => `<circle cx="${x}" cy="${y}" r="${r}" fill="${colour}" fill-opacity=".11"/>`)
    .join('')

/** A thin frame with notched corners, as on temple plaques. */
const frame = (inset: number, notch: number, stroke: string): string => {
  const [l, t, r, b] = [inset, inset, 1200 - inset, 630 - inset]
  return `<path d="M${l + notch} ${t} H${r - notch} a${notch} ${notch} 0 0 0 ${notch} ${notch} V${b - notch} a${notch} ${notch} 0 0 0 ${-notch} ${notch}
    H${l + notch} a${notch} ${notch} 0 0 0 ${-notch} ${-notch} V${t + notch} a${notch} ${notch} 0 0 0 ${notch} ${-notch}Z" fill="none" ${stroke}/>`
}

export const eveningHills = ({ deep, base, glow }: Palette): string => `<svg ${SIZE}>
  <rect width="1200" height="630" fill="${deep}"/>
  <rect width="1200" height="630" fill="${base}" fill-opacity=".72"/>
  ${light(930, 290, glow)}
  ${HILLS.map(([d, opacity]) => `<path d="${d}" fill="${deep}" fill-opacity="${opacity}"/>`).join('')}
  ${frame(18, 22, `stroke="${GOLD}" stroke-opacity=".7" stroke-width="2.5"`)}
</svg>`

const RAYS = 36

/** Rays from behind the medallion. A single path is rendered in one pass. */
const rays = (x: number, y: number): string => {
  const half = Math.PI / RAYS / 2
  const corner = (angle: number): string =>
    `L${(x + Math.cos(angle) * 1300).toFixed(0)} ${(y + Math.sin(angle) * 1300).toFixed(0)}`
  const triangles = Array.from({ length: RAYS }, (_, i) => {
    const angle = (i * 2 * Math.PI) / RAYS
    return `M${x} ${y}${corner(angle - half)}${corner(angle + half)}Z`
  })
  return `<path d="${triangles.join('')}" fill="${GOLD}" fill-opacity=".13"/>`
}

const lantern = (x: number, cord: number, size: number): string => `
  <g transform="translate(${x} 0)">
    <path d="M0 0 V${cord}" stroke="${GOLD_DEEP}" stroke-width="2"/>
    <g transform="translate(0 ${cord}) scale(${size})">
      <circle cx="0" cy="38" r="58" fill="#ffb05a" fill-opacity=".16"/>
      <rect x="-15" y="0" width="30" height="8" rx="3" fill="${GOLD}"/>
      <ellipse cx="0" cy="38" rx="42" ry="31" fill="#d8321f"/>
      <path d="M0 7 V69 M-21 10 C-34 26,-34 50,-21 66 M21 10 C34 26,34 50,21 66" fill="none" stroke="#ffd27f" stroke-opacity=".55" stroke-width="1.6"/>
      <rect x="-15" y="68" width="30" height="8" rx="3" fill="${GOLD}"/>
      <path d="M-8 76 V104 M0 76 V112 M8 76 V104" stroke="${GOLD}" stroke-width="2.4" stroke-linecap="round"/>
    </g>
  </g>`

const cloud = (x: number, y: number): string => `
  <g transform="translate(${x} ${y})" fill="none" stroke="${GOLD}" stroke-opacity=".8" stroke-width="3" stroke-linecap="round">
    <path d="M0 0 H92 a16 16 0 1 0 -15 -22 a24 24 0 0 0 -45 -4 a17 17 0 1 0 -6 32"/>
    <path d="M84 -13 a8 8 0 1 1 7 7"/><path d="M30 14 H120"/>
  </g>`

export const feast = ({ deep, base }: Palette): string => `<svg ${SIZE}>
  <rect width="1200" height="630" fill="${deep}"/>
  <rect width="1200" height="630" fill="${base}" fill-opacity=".8"/>
  ${rays(270, 318)}
  ${frame(16, 30, `stroke="${GOLD}" stroke-width="5"`)}
  ${frame(27, 30, `stroke="${GOLD_DEEP}" stroke-width="2"`)}
  ${lantern(1040, 44, 0.82)}${lantern(1120, 84, 1)}
  ${cloud(62, 580)}
</svg>`

/** The round picture of the way: the track where there is one, a path that waits where there is none. */
import type { Fix } from './card-facts.ts'
import { GOLD, GOLD_DEEP, GOLD_LIGHT, type Palette } from './palette.ts'
import { type Outline, outlineOf } from './track-outline.ts'

/** A winding path into the hills. */
const WAITING = 'M120 330 C 190 300, 330 315, 300 255 S 150 230, 185 180 S 285 160, 240 105'

const line = ({ path, start, end }: Outline, inset: number): string => `
  <g transform="translate(${inset} ${inset})" fill="none" stroke-linecap="round" stroke-linejoin="round">
    <path d="${path}" stroke="${GOLD}" stroke-opacity=".14" stroke-width="20"/>
    <path d="${path}" stroke="${GOLD}" stroke-opacity=".25" stroke-width="11"/>
    <path d="${path}" stroke="${GOLD_LIGHT}" stroke-width="4.5"/>
    <circle cx="${start.x}" cy="${start.y}" r="8" fill="#fff" stroke="${GOLD_DEEP}" stroke-width="4"/>
    <circle cx="${end.x}" cy="${end.y}" r="20" fill="${GOLD}" fill-opacity=".28"/>
    <circle cx="${end.x}" cy="${end.y}" r="10.5" fill="${GOLD}" stroke="#fff" stroke-width="3.5"/>
  </g>`

const waiting = (): string => `
  <path d="${WAITING}" fill="none" stroke="${GOLD_LIGHT}" stroke-opacity=".75" stroke-width="5"
        stroke-linecap="round" stroke-dasharray="1 15"/>
  <circle cx="120" cy="330" r="9" fill="#fff" stroke="${GOLD_DEEP}" stroke-width="4"/>
  <path d="M240 105 v-38 l30 11 l-30 11" fill="${GOLD}" stroke="${GOLD}" stroke-width="3" stroke-linejoin="round"/>`

/** Marks of a compass, north longer. */
const ticks = (c: number, r: number): string =>
  Array.from({ length: 72 }, (_, i) => {
    const long = i % 18 === 0 ? 15 : i % 2 === 0 ? 8 : 4
    return `<path d="M${c} ${c - r} v${long}" stroke="${GOLD}" stroke-opacity="${i % 18 === 0 ? 0.95 : 0.4}"
      stroke-width="${i % 18 === 0 ? 3 : 1.5}" transform="rotate(${i * 5} ${c} ${c})"/>`
  }).join('')

const SIDE = 440
/** Room between the rim and the track. */
const INSET = 96

/** What of a track the medallion shows; null where the path still waits. */
export const outlineIn = (track: readonly Fix[]): Outline | null => outlineOf(track, SIDE - 2 * INSET)

/** SVG of the medallion, 440 units a side. */
export function medallion(outline: Outline | null, { deep, base, glow }: Palette): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 440 440">
  <defs>
    <radialGradient id="m" cx=".5" cy=".4" r=".72">
      <stop offset="0" stop-color="${base}"/><stop offset=".62" stop-color="${deep}"/><stop offset="1" stop-color="${deep}"/>
    </radialGradient>
    <radialGradient id="h"><stop offset="0" stop-color="${glow}" stop-opacity=".5"/><stop offset="1" stop-color="${glow}" stop-opacity="0"/></radialGradient>
    <linearGradient id="g" x2="1" y2="1"><stop offset="0" stop-color="${GOLD_LIGHT}"/><stop offset=".5" stop-color="${GOLD_DEEP}"/><stop offset="1" stop-color="${GOLD}"/></linearGradient>
  </defs>
  <circle cx="220" cy="220" r="206" fill="url(#m)"/>
  <circle cx="220" cy="196" r="170" fill="url(#h)"/>
  <circle cx="220" cy="220" r="207" fill="none" stroke="url(#g)" stroke-width="7"/>
  <circle cx="220" cy="220" r="194" fill="none" stroke="${GOLD}" stroke-opacity=".45" stroke-width="1.5"/>
  ${ticks(220, 188)}
  ${outline === null ? waiting() : line(outline, INSET)}
</svg>`
}

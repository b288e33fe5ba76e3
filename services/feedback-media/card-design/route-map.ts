/**
 * The round map: the walked line with places along it, north and a scale. Without a track it shows a placeholder
 * path.
 */
import { box, drawing, type Element } from '#shared/picture-renderer/element.ts'
import type { Fix } from './card-facts.ts'
import { GOLD, GOLD_DEEP, GOLD_LIGHT, type Palette } from './palette.ts'
import { type Outline, outlineOf, roundLength } from './track-outline.ts'

const SIDE = 440
/** Padding between the rim and the track. */
const INSET = 92
/** Maximum length of the scale bar, in map units. */
const SCALE_MAX = 110

/** The placeholder: a winding path into the hills. */
const PLACEHOLDER = 'M120 330 C 190 300, 330 315, 300 255 S 150 230, 185 180 S 285 160, 240 105'

/** Contour lines, as on a hiking map: the same hills on every card. */
const CONTOURS = [
  'M22 250 C 90 215, 130 262, 196 236 S 300 180, 418 214',
  'M16 212 C 96 172, 150 226, 214 198 S 310 136, 424 176',
  'M38 300 C 110 262, 160 306, 222 284 S 330 232, 412 262',
  'M66 346 C 140 312, 190 346, 250 328 S 340 290, 386 312',
  'M34 156 C 110 128, 158 170, 226 150 S 330 100, 404 126',
  'M92 92 C 150 82, 190 112, 240 102 S 320 70, 352 84',
  'M118 388 C 178 366, 226 384, 272 374 S 330 352, 344 358',
]

const line = ({ path, start, end, waymarks }: Outline): string => `
  <g transform="translate(${INSET} ${INSET})" fill="none" stroke-linecap="round" stroke-linejoin="round">
    <path d="${path}" stroke="${GOLD_DEEP}" stroke-opacity=".55" stroke-width="14"/>
    <path d="${path}" stroke="${GOLD_LIGHT}" stroke-width="6"/>
    ${waymarks.map(({ x, y }) => `<circle cx="${x}" cy="${y}" r="5.5" fill="${GOLD_LIGHT}" stroke="${GOLD_DEEP}" stroke-width="3"/>`).join('')}
    <circle cx="${start.x}" cy="${start.y}" r="10" fill="#fff" stroke="${GOLD_DEEP}" stroke-width="5"/>
    <path d="M${end.x} ${end.y} V${end.y - 44} l30 11 l-30 11" fill="${GOLD}" stroke="${GOLD}" stroke-width="5"/>
    <circle cx="${end.x}" cy="${end.y}" r="8" fill="${GOLD}" stroke="#fff" stroke-width="4"/>
  </g>`

const waiting = (): string => `
  <path d="${PLACEHOLDER}" fill="none" stroke="${GOLD_LIGHT}" stroke-opacity=".8" stroke-width="6" stroke-linecap="round" stroke-dasharray="1 16"/>
  <circle cx="120" cy="330" r="10" fill="#fff" stroke="${GOLD_DEEP}" stroke-width="5"/>
  <path d="M240 105 v-44 l30 11 l-30 11" fill="${GOLD}" stroke="${GOLD}" stroke-width="5" stroke-linejoin="round"/>`

/** An arrow to the north. */
const NORTH = `<path d="M220 30 L231 58 L220 51 L209 58Z" fill="${GOLD}"/>`

const scaleOf = (outline: Outline): { px: number; label: string } => {
  const metres = roundLength(SCALE_MAX / outline.pxPerM)
  return {
    px: metres * outline.pxPerM,
    label: metres >= 1_000 ? `${metres / 1_000} km` : `${metres} m`,
  }
}

/** Fits a track to the map. @returns null for a track that is too short */
export const outlineIn = (track: readonly Fix[]): Outline | null => outlineOf(track, SIDE - 2 * INSET)

/** SVG of the map, 440 units a side, without its scale. */
function routeMapSvg(outline: Outline | null, { deep, base }: Palette): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 440 440">
  <defs><clipPath id="c"><circle cx="220" cy="220" r="203"/></clipPath></defs>
  <circle cx="220" cy="220" r="206" fill="${deep}"/>
  <g clip-path="url(#c)" fill="none" stroke="${base}" stroke-width="2.5">${CONTOURS.map((d) => `<path d="${d}"/>`).join('')}</g>
  <circle cx="220" cy="220" r="206" fill="none" stroke="${GOLD}" stroke-width="7"/>
  <circle cx="220" cy="220" r="197" fill="none" stroke="${GOLD_DEEP}" stroke-width="2"/>
  ${NORTH}
  ${outline === null ? waiting() : line(outline)}
</svg>`
}

const scaleBar = (outline: Outline, size: number): Element => {
  const { px, label } = scaleOf(outline)
  return box(
    {
      position: 'absolute',
      left: 0,
      top: size * 0.84,
      width: size,
      flexDirection: 'column',
      alignItems: 'center',
    },
    box({ fontSize: 22, fontWeight: 700, color: GOLD_LIGHT, lineHeight: 1.1 }, label),
    box({
      width: Math.round((px * size) / SIDE),
      height: 9,
      border: `3px solid ${GOLD_LIGHT}`,
      borderTop: '0px solid transparent',
    }),
  )
}

/** The map as part of a card. @param size pixels a side */
export const routeMap = (
  outline: Outline | null,
  colours: Palette,
  place: { readonly left: number; readonly top: number; readonly size: number },
): Element =>
  box(
    { position: 'absolute', left: place.left, top: place.top, width: place.size, height: place.size },
    drawing(routeMapSvg(outline, colours), place.size, place.size, { position: 'absolute', left: 0, top: 0 }),
    ...(outline === null ? [] : [scaleBar(outline, place.size)]),
  )

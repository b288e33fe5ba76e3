/** The emblems of the nine levels in one style: strokes and flat gold on 100 × 100 units. */

const PETAL = 'M50 78 C 34 62, 36 40, 50 26 C 64 40, 66 62, 50 78Z'
const petal = (degrees: number, fill: string): string =>
  `<path d="${PETAL}" fill="${fill}" transform="rotate(${degrees} 50 80)"/>`

/** Drawings by level. Class `f` marks filled shapes, `k` cut-outs; all others are strokes. */
const EMBLEMS: readonly string[] = [
  // A flame.
  '<path class="f" d="M52 12 C 56 30, 76 40, 74 62 C 73 78, 62 88, 50 88 C 37 88, 26 78, 26 63 C 26 50, 35 44, 38 32 C 44 36, 46 42, 46 46 C 52 38, 54 26, 52 12Z"/><path class="k" d="M51 54 C 53 62, 61 65, 60 73 C 59 79, 55 82, 50 82 C 45 82, 40 78, 41 72 C 42 65, 49 63, 51 54Z"/>',
  // Foundation stones.
  '<rect class="f" x="14" y="62" width="34" height="20" rx="3"/><rect class="f" x="52" y="62" width="34" height="20" rx="3"/><rect class="f" x="33" y="38" width="34" height="20" rx="3"/><path d="M50 30 V18 M43 22 L50 15 L57 22"/>',
  // A golden core in its light.
  '<circle class="f" cx="50" cy="50" r="17"/><circle cx="50" cy="50" r="27"/><path d="M50 8 V15 M50 85 V92 M8 50 H15 M85 50 H92 M20 20 L25 25 M75 75 L80 80 M80 20 L75 25 M25 75 L20 80"/>',
  // Nascent soul: a seated figure in a halo.
  '<circle cx="50" cy="46" r="36"/><circle class="f" cx="50" cy="32" r="9"/><path class="f" d="M50 43 C 61 43, 64 52, 65 60 L80 70 C 84 75, 79 80, 73 79 H27 C 21 80, 16 75, 20 70 L35 60 C 36 52, 39 43, 50 43Z"/>',
  // Spirit: a great star and two small ones.
  '<path class="f" d="M44 14 C 48 40, 52 46, 78 50 C 52 54, 48 60, 44 86 C 40 60, 36 54, 10 50 C 36 46, 40 40, 44 14Z"/><path class="f" d="M76 12 C 77.5 21, 80 23.500, 88 25 C 80 26.500, 77.500 29, 76 38 C 74.500 29, 72 26.500, 64 25 C 72 23.500, 74.500 21, 76 12Z"/><path class="f" d="M78 68 C 79 75, 81 77, 88 78 C 81 79, 79 81, 78 88 C 77 81, 75 79, 68 78 C 75 77, 77 75, 78 68Z"/>',
  // Void: a spiral.
  '<path d="M50 50 C 54 44, 64 48, 62 57 C 60 68, 44 70, 37 60 C 28 47, 38 30, 54 30 C 74 30, 82 52, 74 68 C 64 88, 36 88, 24 70 C 12 50, 20 22, 46 14"/>',
  // Unity: two interlocked rings.
  '<circle cx="37" cy="50" r="24"/><circle cx="63" cy="50" r="24"/><path class="f" d="M50 37 C 56 43, 56 57, 50 63 C 44 57, 44 43, 50 37Z"/>',
  // A lotus.
  `${petal(-58, 'none')}${petal(58, 'none')}${petal(-30, 'none')}${petal(30, 'none')}<path class="f" d="${PETAL}"/><path d="M22 86 H78"/>`,
  // The sun over the summit.
  '<path class="f" d="M8 84 L38 40 L50 56 L62 36 L92 84Z"/><path d="M50 8 V14 M28 16 L32 21 M72 16 L68 21 M18 34 L24 36 M82 34 L76 36"/><path d="M36 33 A 15 15 0 0 1 64 29"/>',
]

/**
 * SVG of a level's emblem, 100 units a side.
 * @param level 1 to 9
 * @param gold colour of the shapes
 * @param ground colour of the cut-outs
 */
export const emblem = (level: number, gold: string, ground: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100"><g fill="none" stroke="${gold}" stroke-width="5" stroke-linecap="round" stroke-linejoin="round">${EMBLEMS[
    level - 1
  ]!.replaceAll('class="f"', `fill="${gold}" stroke-width="2"`).replaceAll(
    'class="k"',
    `fill="${ground}" stroke="none"`,
  )}</g></svg>`

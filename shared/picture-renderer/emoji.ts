/** Emoji as coloured SVG images, from a package. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Graphemes with emoji presentation, by default or by a variation selector. */
const EMOJI = /\p{Emoji_Presentation}|\p{Emoji}\uFE0F|[0-9#*]\uFE0F?\u20E3|\p{Regional_Indicator}{2}/u

const drawings = new Map<string, string | null>()
let directory = ''

function find(grapheme: string): string | null {
  directory ||= dirname(Bun.resolveSync('@twemoji/svg/package.json', import.meta.dir))
  const whole = Array.from(grapheme, (char) => char.codePointAt(0)!.toString(16))
  const bare = whole.filter((hex) => hex !== 'fe0f')
  // File names of joined emoji contain the variation selectors; other file names do not.
  for (const parts of [whole, bare]) {
    const path = join(directory, `${parts.join('-')}.svg`)
    if (existsSync(path)) return `data:image/svg+xml;base64,${readFileSync(path).toString('base64')}`
  }
  return null
}

/** The image of a grapheme as a data URL; null if it is not an emoji, or is newer than the package. */
export function emojiDrawing(grapheme: string): string | null {
  if (!EMOJI.test(grapheme)) return null
  let drawing = drawings.get(grapheme)
  if (drawing === undefined) drawings.set(grapheme, (drawing = find(grapheme)))
  return drawing
}

/** Emoji as coloured drawings, from a package. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What people see as a coloured picture: by itself, or because a selector asks for it. */
const EMOJI = /\p{Emoji_Presentation}|\p{Emoji}\uFE0F|[0-9#*]\uFE0F?\u20E3|\p{Regional_Indicator}{2}/u

const drawings = new Map<string, string | null>()
let directory = ''

function find(grapheme: string): string | null {
  directory ||= dirname(Bun.resolveSync('@twemoji/svg/package.json', import.meta.dir))
  const whole = Array.from(grapheme, (char) => char.codePointAt(0)!.toString(16))
  const bare = whole.filter((hex) => hex !== 'fe0f')
  // Files of joined emoji bear the selectors in their names, others do not.
  for (const parts of [whole, bare]) {
    const path = join(directory, `${parts.join('-')}.svg`)
    if (existsSync(path)) return `data:image/svg+xml;base64,${readFileSync(path).toString('base64')}`
  }
  return null
}

/** A grapheme's drawing as a data URL; null for what is no emoji, or one that is younger than the drawings. */
export function emojiDrawing(grapheme: string): string | null {
  if (!EMOJI.test(grapheme)) return null
  let drawing = drawings.get(grapheme)
  if (drawing === undefined) drawings.set(grapheme, (drawing = find(grapheme)))
  return drawing
}

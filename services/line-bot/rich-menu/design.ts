/** The rich menu of a language: its picture, and the action of each area. */
import { createHash } from 'node:crypto'
import type { messagingApi } from '@line/bot-sdk'
import { box, type Element, words as text } from '#shared/runtime/picture-renderer/element.ts'
import type { BotAction, Language } from '#shared/contracts/bot.ts'
import { cut, postback } from '../bot/flex.ts'
import { BOT_WORDS } from '#shared/locales/by-language.ts'

/** The larger of LINE's two recommended sizes, in pixels. */
export const SIZE = { width: 2_500, height: 1_686 }
const COLUMNS = 3
const ROWS = 2
const GAP = 24

const GROUND = '#7a1712'
const GOLD = '#f3d38a'
const IVORY = '#fdf8ec'
const SEAL = '#b3231d'
const INK = '#3b2a20'

/** By row; the most frequent action is first. */
const TILES: readonly (readonly [BotAction, icon: string])[] = [
  ['checkin', '📍'],
  ['level', '🏆'],
  ['card', '🖼️'],
  ['carbon', '🌱'],
  ['survey', '📝'],
  ['help', '💬'],
]

interface MenuDesign {
  readonly request: messagingApi.RichMenuRequest
  readonly picture: Element
  /** SHA-256 of the picture and the actions. A menu with the same digest needs no deployment. */
  readonly digest: string
}

/** Prefix of this service's menus at LINE. Menus with other names belong to other software. */
export const NAME_PREFIX = 'event:'

export function designMenu(language: Language): MenuDesign {
  const words = BOT_WORDS[language]
  const picture = box(
    { width: SIZE.width, height: SIZE.height, flexWrap: 'wrap', backgroundColor: GROUND, padding: GAP / 2 },
    ...TILES.map(([action, icon]) => tile(action, icon, words.labels[action])),
  )
  const menu = {
    size: SIZE,
    selected: true,
    chatBarText: cut(words.chatBar, 14),
    areas: TILES.map(([action], i) => ({ bounds: boundsOf(i), action: postback(action, words) })),
  }
  const digest = createHash('sha256')
    .update(JSON.stringify([menu, picture]))
    .digest('hex')
  return { request: { ...menu, name: `${NAME_PREFIX}${language}:${digest.slice(0, 12)}` }, picture, digest }
}

/** Whole pixels that cover the picture without a gap. */
function boundsOf(index: number): messagingApi.RichMenuBounds {
  const [column, row] = [index % COLUMNS, Math.floor(index / COLUMNS)]
  const x = Math.round((column * SIZE.width) / COLUMNS)
  const y = Math.round((row * SIZE.height) / ROWS)
  return {
    x,
    y,
    width: Math.round(((column + 1) * SIZE.width) / COLUMNS) - x,
    height: Math.round(((row + 1) * SIZE.height) / ROWS) - y,
  }
}

/** The check-in has its own colours, because it is the main action. */
function tile(action: BotAction, icon: string, label: string): Element {
  const first = action === 'checkin'
  return box(
    {
      width: Math.floor((SIZE.width - GAP) / COLUMNS),
      height: Math.floor((SIZE.height - GAP) / ROWS),
      padding: GAP / 2,
    },
    box(
      {
        width: '100%',
        height: '100%',
        flexDirection: 'column',
        alignItems: 'center',
        justifyContent: 'center',
        borderRadius: 48,
        border: `10px solid ${GOLD}`,
        backgroundColor: first ? SEAL : IVORY,
      },
      text({ fontSize: 300, lineHeight: 1.2 }, icon, '·'),
      text(
        { marginTop: 40, fontSize: 104, fontWeight: 700, color: first ? GOLD : INK, lineHeight: 1.3 },
        label,
        '·',
      ),
    ),
  )
}

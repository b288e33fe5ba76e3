/** The rich menu of each language: its picture, its actions, and its deployment to LINE. */
import { createHash } from 'node:crypto'
import type { messagingApi } from '@line/bot-sdk'
import { eq } from 'drizzle-orm'
import { type Acting, audit } from '#shared/service/security/audit-log.ts'
import type { Renderer } from '#shared/runtime/picture-renderer/renderer.ts'
import type { Event } from '#shared/pilgrims/event-settings.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import {
  type BotAction,
  BuiltInLanguage,
  type Language,
  type MenuDeployment,
  type MenuStatus,
} from '#shared/contracts/bot.ts'
import { time } from '#shared/contracts/fields.ts'
import { conflict, unavailable } from '#shared/runtime/refusal.ts'
import { isLineUserId, type Line } from '#shared/service/line/line-client.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { pilgrims, richMenus } from '#shared/stores/schema/tables.ts'
import { box, type Element, words as text } from '#shared/runtime/picture-renderer/element.ts'
import { cut, postback } from './flex.ts'

/** The larger of LINE's two recommended sizes, in pixels. */
const SIZE = { width: 2_500, height: 1_686 }
const COLUMNS = 3
const ROWS = 2
const GAP = 24

const GROUND = '#7a1712'
const GOLD = '#f3d38a'
const IVORY = '#fdf8ec'
const SEAL = '#b3231d'
const INK = '#3b2a20'

/** The tiles by row; the most frequent action is first. */
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
  /** SHA-256 of the picture, the actions and the audience. A menu with the same digest needs no deployment. */
  readonly digest: string
}

/** Menus with other names belong to other software. */
const NAME_PREFIX = 'event:'

/** Built-in languages have a menu also while they are not offered. */
const menuLanguages = ({ languages }: Pick<Event, 'languages'>): readonly Language[] => [
  ...new Set<Language>([...BuiltInLanguage.options, ...languages]),
]

const offersAll = (event: Pick<Event, 'languages'>): boolean =>
  menuLanguages(event).length === event.languages.length &&
  event.languages.length === BuiltInLanguage.options.length

/** @param event its languages decide who sees the menu: also people of unknown language, if it is `language` */
export function designMenu(
  language: Language,
  event: Pick<Event, 'language' | 'languages' | 'wordsFor'>,
): MenuDesign {
  const words = event.wordsFor(language).bot
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
    .update(JSON.stringify([menu, picture, event.language, ...(offersAll(event) ? [] : [event.languages])]))
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

// Deployment: unchanged menus stay, a changed one replaces the old one.

const LOCK = 'rich-menus'
const LOCK_MS = 120_000

export async function readMenus({ db, event }: ServiceContext, line: Line | null): Promise<MenuStatus> {
  const rows = await db.read(() => db.orm.select().from(richMenus))
  const menus = menuLanguages(event.current).map((language) => {
    const row = rows.find((stored) => stored.language === language)
    return {
      language,
      menu_id: row?.menuId ?? null,
      digest: row?.digest ?? null,
      deployed_at: row === undefined ? null : time(row.deployedAt),
      current: row?.digest === designMenu(language, event.current).digest,
    }
  })
  return { configured: line !== null, menus }
}

/**
 * Deploys the menu of each language.
 * @throws Refusal 409 while another deployment runs; 503 when LINE rejects a menu. The next deployment continues
 * from there
 */
export async function deployMenus(
  context: ServiceContext,
  line: Line | null,
  renderer: Renderer,
  operator: Acting,
): Promise<MenuDeployment> {
  const { db, kv, log, now } = context
  if (line === null) return { skipped: true, menus: [] }
  const lock = await kv.lock(LOCK, LOCK_MS)
  if (lock === null)
    throw conflict('Another deployment of the rich menu is running. Check its status in a moment.')
  try {
    const menus = await deployAll(context, line, renderer)
    await audit(db, operator, 'deploy-richmenu', { menus }, now())
    return { skipped: false, menus }
  } catch (error) {
    log.warn('the rich menu could not be deployed', errorFields(error))
    throw unavailable(
      'The rich menu is only partly deployed. Please try again; the deployment continues from there.',
    )
  } finally {
    await kv.unlock(LOCK, lock)
  }
}

async function deployAll(context: ServiceContext, line: Line, renderer: Renderer) {
  const listed = await line.menus.list()
  const menus: MenuDeployment['menus'] = []
  for (const language of menuLanguages(context.event.current))
    menus.push(
      await deployOne(context, line, renderer, language, new Set(listed.map((menu) => menu.richMenuId))),
    )
  const current = new Set(menus.map(({ menu_id }) => menu_id))
  // Old menus, and the remains of an interrupted deployment.
  for (const { richMenuId, name } of listed)
    if (name.startsWith(NAME_PREFIX) && !current.has(richMenuId)) await line.menus.remove(richMenuId)
  return menus
}

async function deployOne(
  context: ServiceContext,
  line: Line,
  renderer: Renderer,
  language: Language,
  listed: ReadonlySet<string>,
): Promise<MenuDeployment['menus'][number]> {
  const { db, event, now } = context
  const { request, picture, digest } = designMenu(language, event.current)
  const [row] = await db.orm.select().from(richMenus).where(eq(richMenus.language, language))
  if (row?.digest === digest && listed.has(row.menuId))
    return { language, menu_id: row.menuId, changed: false }
  const menuId = await line.menus.create(request, await renderer.renderPng(picture, SIZE))
  if (language === event.current.language) await line.menus.setDefault(menuId)
  else await line.menus.link(menuId, await readersOf(context, language))
  const fields = { menuId, digest, deployedAt: new Date(now()) }
  await db.orm
    .insert(richMenus)
    .values({ language, ...fields })
    .onConflictDoUpdate({ target: richMenus.language, set: fields })
  return { language, menu_id: menuId, changed: true }
}

async function readersOf({ db, event }: ServiceContext, language: Language): Promise<string[]> {
  const rows = await db.orm.select({ userId: pilgrims.userId, language: pilgrims.language }).from(pilgrims)
  return rows
    .filter((row) => isLineUserId(row.userId) && event.current.languageOf([row.language]) === language)
    .map(({ userId }) => userId)
}

/** Links the menu of a person's language after that language changed. Failures are only logged. */
export async function linkMenu(
  { db, event, log }: ServiceContext,
  line: Line,
  userId: string,
  before: string | null,
  after: string | null,
): Promise<void> {
  const language = event.current.languageOf([after])
  // A person without a linked menu sees the default, which is the menu of the event's language.
  if (event.current.languageOf([before]) === language) return
  try {
    const [row] = await db.orm.select().from(richMenus).where(eq(richMenus.language, language))
    if (row !== undefined) await line.menus.link(row.menuId, [userId])
  } catch (error) {
    log.warn('the menu could not be linked to a pilgrim', errorFields(error))
  }
}

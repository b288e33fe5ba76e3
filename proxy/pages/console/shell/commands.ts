/** What the command palette offers: views, their panels, and actions, as far as the operator's tier may. */
import { chooseTheme, theme } from '../../frame/theme.ts'
import { status } from '../live.ts'
import { reloadAll } from '../resource.ts'
import { allowedViews, show, type View } from '../router.ts'
import { endSession, level, MANAGER, OWNER } from '../session.ts'
import { consoleLanguage, fill, words } from '../words.ts'
import type { LanguageProps } from './language-choice.tsx'

export interface Command {
  readonly name: string
  /** Other words by which it is found. */
  readonly also?: string | undefined
  /** Enter alone never does it: it is gone to with the arrows, or pressed. */
  readonly careful?: boolean
  readonly run: () => void
}

interface PanelPlace {
  readonly view: View
  /** The panel's `kind`. */
  readonly panel: string
  readonly name: string
  readonly least: number
}

function panelPlaces(): readonly PanelPlace[] {
  const { now, reports, messages, schedule, lifecycle, alerting, house } = words.value
  const places = (view: View, least: number, names: Readonly<Record<string, string>>) =>
    Object.entries(names).map(([panel, name]) => ({ view, panel, name, least }))
  return [
    ...places('now', MANAGER, { alerts: now.alerts, parts: now.parts }),
    ...places('reports', MANAGER, { carbon: reports.carbon, surveys: reports.surveys }),
    ...places('messages', MANAGER, { 'sent-messages': messages.ledger, schedule: schedule.title }),
    ...places('lifecycle', MANAGER, { history: lifecycle.history }),
    ...places('house', MANAGER, {
      alerting: alerting.title,
      'dead-letters': house.letters,
      roles: house.roles,
      ledger: house.ledger,
      'rich-menu': house.menu,
    }),
    ...places('house', OWNER, { tokens: house.tokens, audit: house.audit }),
  ]
}

/** Words for a panel that its title does not have. */
function alsoOf(panel: string): string | undefined {
  const also: Readonly<Record<string, string>> = words.value.paletteAlso
  return also[panel]
}

const panelCommands = (): Command[] =>
  panelPlaces()
    .filter(({ least }) => level.value >= least)
    .map(({ view, panel, name }) => ({
      name: `${words.value.nav[view]} › ${name}`,
      also: alsoOf(panel),
      run: () => show(view, { panel }),
    }))

function operatingCommands(): Command[] {
  if (level.value < MANAGER) return []
  const { lifecycle, messages } = words.value
  const commands: Command[] = [
    {
      name: messages.compose,
      also: alsoOf('compose'),
      run: () => show('messages', { panel: 'compose' }),
    },
  ]
  if (status.value?.status === 'ended') return commands
  return [
    { name: lifecycle.pauseAndResume, run: () => show('lifecycle', { panel: 'pause' }) },
    ...commands,
    { name: lifecycle.endButton, careful: true, run: () => show('lifecycle', { panel: 'end-event' }) },
  ]
}

function pageCommands(onLanguage: LanguageProps['onLanguage']): Command[] {
  const { common, page, bar } = words.value
  const dark = theme.value === 'dark'
  return [
    { name: common.refresh, run: () => void reloadAll() },
    { name: dark ? page.themes.light : page.themes.dark, run: () => chooseTheme(dark ? 'light' : 'dark') },
    {
      name: consoleLanguage.value === 'en' ? '繁體中文' : 'English',
      run: () => onLanguage(consoleLanguage.value === 'en' ? 'zh-Hant' : 'en'),
    },
    { name: common.print, run: () => print() },
    { name: bar.signOut, run: () => endSession('left') },
  ]
}

/** Commands whose name, or another word for it, contains what was typed, in order; then the search for pilgrims. */
export function fittingCommands(typed: string, onLanguage: LanguageProps['onLanguage']): Command[] {
  const search = typed.trim()
  const text = search.toLowerCase()
  const all: Command[] = [
    ...allowedViews.value.map((view) => ({ name: words.value.nav[view], run: () => show(view) })),
    ...operatingCommands(),
    ...panelCommands(),
    ...pageCommands(onLanguage),
  ]
  const found = all.filter(({ name, also = '' }) => `${name} ${also}`.toLowerCase().includes(text))
  if (search === '' || level.value < MANAGER) return found
  const name = fill(words.value.palette.pilgrim, { text: search })
  return [...found, { name, run: () => show('people', { search }) }]
}

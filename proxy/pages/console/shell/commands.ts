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
  const { now, reports, messages, schedule, lifecycle, house } = words.value
  const places = (view: View, least: number, names: Readonly<Record<string, string>>) =>
    Object.entries(names).map(([panel, name]) => ({ view, panel, name, least }))
  return [
    ...places('now', MANAGER, { alerts: now.alerts, parts: now.parts }),
    ...places('reports', MANAGER, { carbon: reports.carbon, surveys: reports.surveys }),
    ...places('messages', MANAGER, { 'sent-messages': messages.ledger, schedule: schedule.title }),
    ...places('lifecycle', MANAGER, { history: lifecycle.history }),
    ...places('house', MANAGER, {
      'dead-letters': house.letters,
      roles: house.roles,
      ledger: house.ledger,
      'rich-menu': house.menu,
    }),
    ...places('house', OWNER, { tokens: house.tokens, audit: house.audit }),
  ]
}

const panelCommands = (): Command[] =>
  panelPlaces()
    .filter(({ least }) => level.value >= least)
    .map(({ view, panel, name }) => ({
      name: `${words.value.nav[view]} › ${name}`,
      run: () => show(view, { panel }),
    }))

function operatingCommands(): Command[] {
  if (level.value < MANAGER) return []
  const { lifecycle, messages } = words.value
  const commands = [{ name: messages.compose, run: () => show('messages', { panel: 'compose' }) }]
  if (status.value?.status === 'ended') return commands
  return [
    { name: lifecycle.pauseAndResume, run: () => show('lifecycle', { panel: 'pause' }) },
    ...commands,
    { name: lifecycle.endButton, run: () => show('lifecycle', { panel: 'end-event' }) },
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

/** Commands whose name contains what was typed, in order; then the search for pilgrims. */
export function fittingCommands(typed: string, onLanguage: LanguageProps['onLanguage']): Command[] {
  const search = typed.trim()
  const text = search.toLowerCase()
  const found = [
    ...allowedViews.value.map((view) => ({ name: words.value.nav[view], run: () => show(view) })),
    ...operatingCommands(),
    ...panelCommands(),
    ...pageCommands(onLanguage),
  ].filter(({ name }) => name.toLowerCase().includes(text))
  if (search === '' || level.value < MANAGER) return found
  const name = fill(words.value.palette.pilgrim, { text: search })
  return [...found, { name, run: () => show('people', { search }) }]
}

/** The command palette: views, actions and pilgrims by name. */
import { signal, useSignal } from '@preact/signals'
import type { TargetedKeyboardEvent } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { allowedViews, place, show, type View } from '../router.ts'
import { consoleLanguage, pair, words } from '../words.ts'
import { chooseLanguage, pageWords } from '../../frame/language.ts'
import { chooseTheme, theme } from '../../frame/theme.ts'
import { status } from '../live.ts'
import { reloadAll } from '../resource.ts'
import { endSession, level, MANAGER, OWNER } from '../session.ts'
import { REPORT_PANELS, type ReportPanelName } from '../views/reports/panels.ts'

const isOpen = signal(false)
/**
 * Whether the command navigates. The dialog restores the focus when it closes; only then can the focus be
 * moved.
 */
const hasGone = { current: false }
export const openPalette = (): void => {
  isOpen.value = true
}

export function Palette() {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'k') return
      event.preventDefault()
      openPalette()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])
  const open = isOpen.value
  // Before the next key press, which must already reach the dialog.
  useLayoutEffect(() => {
    if (open && !dialog.current!.open) dialog.current!.showModal()
  }, [open])
  const run = (command: Command | undefined) => {
    // Close first: while the dialog is open, nothing behind it can take the focus.
    dialog.current!.close()
    const before = place.value
    command?.run()
    hasGone.current = place.value !== before
  }
  return (
    <dialog
      ref={dialog}
      class="dialog palette"
      aria-label={words.value.common.search}
      onClose={() => {
        isOpen.value = false
        if (hasGone.current) enterView()
        hasGone.current = false
      }}
    >
      {open ? <Choice run={run} /> : null}
    </dialog>
  )
}

/** After navigating, focuses the view, unless a requested panel already has the focus. */
function enterView(): void {
  if (document.querySelector('#view:focus-within') === null) document.getElementById('view')?.focus()
}

function moveFocus(event: TargetedKeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step === undefined) return
  event.preventDefault()
  const stops = [...event.currentTarget.closest('form')!.querySelectorAll<HTMLElement>('input, li button')]
  const at = stops.indexOf(document.activeElement as HTMLElement)
  stops[(at + step + stops.length) % stops.length]?.focus()
}

interface ChoiceProps {
  readonly run: (command: Command | undefined) => void
}

function Choice({ run }: ChoiceProps) {
  const typed = useSignal('')
  const commands = fittingCommands(typed.value)
  // The command that Enter runs.
  const first = commands.findIndex(({ careful = false }) => !careful)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        run(commands[first])
      }}
    >
      <input
        type="search"
        aria-label={words.value.palette.placeholder}
        placeholder={words.value.palette.placeholder}
        value={typed.value}
        ref={(input) => {
          if (!input?.form?.contains(document.activeElement)) input?.focus()
        }}
        onKeyDown={(event) => {
          // By default Escape would only clear the field.
          if (event.key === 'Escape') run(undefined)
          else moveFocus(event)
        }}
        onInput={(event) => (typed.value = event.currentTarget.value)}
      />
      <ul>
        {commands.map((command, i) => (
          <li key={command.name}>
            <button
              type="button"
              class={i === first ? 'first' : undefined}
              onKeyDown={moveFocus}
              onClick={() => run(command)}
            >
              {command.name}
            </button>
          </li>
        ))}
      </ul>
    </form>
  )
}

// The commands of the palette: views, their panels, and actions that the operator's tier allows.

interface Command {
  readonly name: string
  /** Alternative words by which it is found. */
  readonly also?: string | undefined
  /** Enter alone does not run it: it must be selected with the arrow keys or clicked. */
  readonly careful?: boolean
  readonly run: () => void
}

const alsoOf = (panel: string): string | undefined =>
  (words.value.palette.also as Readonly<Record<string, string>>)[panel]

function panelCommands(): Command[] {
  const { nav, now, reports, messages, schedule, lifecycle, alerting, system } = words.value
  /** @param names of panels, by their `kind` */
  const of = (view: View, least: number, names: Readonly<Record<string, string>>): Command[] =>
    Object.entries(level.value < least ? {} : names).map(([panel, name]) => ({
      name: `${nav[view]} › ${name}`,
      also: alsoOf(panel),
      run: () => show(view, { panel }),
    }))
  return [
    ...of('now', MANAGER, { alerts: now.alerts }),
    ...Object.entries(REPORT_PANELS).flatMap(([panel, { least }]) =>
      of('reports', least, { [panel]: reports.panels[panel as ReportPanelName] }),
    ),
    ...of('messages', MANAGER, { 'sent-messages': messages.ledger, schedule: schedule.title }),
    ...of('lifecycle', MANAGER, { history: lifecycle.history }),
    ...of('system', MANAGER, {
      alerting: alerting.title,
      'all-parts': system.parts,
      'dead-letters': system.letters,
      roles: system.roles,
      ledger: system.ledger,
      'rich-menu': system.menu,
    }),
    ...of('system', OWNER, { tokens: system.tokens, audit: system.audit }),
  ]
}

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

function pageCommands(): Command[] {
  const { common, bar } = words.value
  const page = pageWords.value
  const dark = theme.value === 'dark'
  return [
    { name: common.refresh, run: () => void reloadAll() },
    { name: dark ? page.themes.light : page.themes.dark, run: () => chooseTheme(dark ? 'light' : 'dark') },
    {
      name: consoleLanguage.value === 'en' ? '繁體中文' : 'English',
      run: () => void chooseLanguage(consoleLanguage.value === 'en' ? 'zh-Hant' : 'en'),
    },
    { name: common.print, run: () => print() },
    { name: bar.signOut, run: () => endSession('left') },
  ]
}

/** Commands whose name or alternative words contain the input, in order; then the search for pilgrims. */
function fittingCommands(typed: string): Command[] {
  const search = typed.trim()
  const text = search.toLowerCase()
  const all: Command[] = [
    ...allowedViews.value.map((view) => ({ name: words.value.nav[view], run: () => show(view) })),
    ...operatingCommands(),
    ...panelCommands(),
    ...pageCommands(),
  ]
  const found = all.filter(({ name, also = '' }) => `${name} ${also}`.toLowerCase().includes(text))
  if (search === '' || level.value < MANAGER) return found
  const name = pair(words.value.palette.pilgrim, search)
  return [...found, { name, run: () => show('people', { search }) }]
}

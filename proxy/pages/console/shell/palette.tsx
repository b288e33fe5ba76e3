/** The command palette: views and actions by name, and pilgrims. */
import { signal, useSignal } from '@preact/signals'
import type { TargetedKeyboardEvent } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { allowedViews, show } from '../router.ts'
import { endSession, level, MANAGER } from '../session.ts'
import { reloadAll } from '../resource.ts'
import type { LanguageProps } from './language-choice.tsx'
import { consoleLanguage, fill, words } from '../words.ts'
import { chooseTheme, theme } from '../../frame/theme.ts'

const isOpen = signal(false)
export const openPalette = (): void => {
  isOpen.value = true
}

interface Command {
  readonly name: string
  readonly run: () => void
}

function commandsOf(onLanguage: LanguageProps['onLanguage']): Command[] {
  const { nav, bar, common, page, lifecycle, messages } = words.value
  const views = allowedViews.value.map((view) => ({ name: nav[view], run: () => show(view) }))
  const operating: Command[] =
    level.value >= MANAGER
      ? [
          { name: `${lifecycle.pause} · ${lifecycle.resume}`, run: () => show('lifecycle') },
          { name: messages.compose, run: () => show('messages') },
        ]
      : []
  const dark = theme.value === 'dark'
  return [
    ...views,
    ...operating,
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

function fitting(typed: string, onLanguage: LanguageProps['onLanguage']): Command[] {
  const text = typed.trim().toLowerCase()
  const found = commandsOf(onLanguage).filter(({ name }) => name.toLowerCase().includes(text))
  if (text === '' || level.value < MANAGER) return found
  const search = typed.trim()
  const name = fill(words.value.palette.pilgrim, { text: search })
  return [...found, { name, run: () => show('people', { search }) }]
}

export function Palette({ onLanguage }: LanguageProps) {
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
  useEffect(() => {
    if (open && !dialog.current!.open) dialog.current!.showModal()
    if (!open && dialog.current!.open) dialog.current!.close()
  }, [open])
  return (
    <dialog
      ref={dialog}
      class="dialog palette"
      aria-label={words.value.palette.title}
      onClose={() => (isOpen.value = false)}
    >
      {open ? <Choice onLanguage={onLanguage} /> : null}
    </dialog>
  )
}

/** Moves the focus between the field and the commands. */
function moveFocus(event: TargetedKeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step === undefined) return
  event.preventDefault()
  const stops = [...event.currentTarget.closest('form')!.querySelectorAll<HTMLElement>('input, li button')]
  const at = stops.indexOf(document.activeElement as HTMLElement)
  stops[(at + step + stops.length) % stops.length]?.focus()
}

function Choice({ onLanguage }: LanguageProps) {
  const typed = useSignal('')
  const commands = fitting(typed.value, onLanguage)
  const run = (command: Command | undefined) => {
    isOpen.value = false
    command?.run()
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        run(commands[0])
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
        onKeyDown={moveFocus}
        onInput={(event) => (typed.value = event.currentTarget.value)}
      />
      <ul>
        {commands.map((command, i) => (
          <li key={command.name}>
            <button
              type="button"
              class={i === 0 ? 'first' : undefined}
              onKeyDown={moveFocus}
              onClick={() => run(command)}
            >
              {command.name}
            </button>
          </li>
        ))}
      </ul>
      <p class="quiet small">{words.value.palette.keys}</p>
    </form>
  )
}

/** The command palette: views and actions by name, and pilgrims. */
import { signal, useSignal } from '@preact/signals'
import type { TargetedKeyboardEvent } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { place } from '../router.ts'
import { words } from '../words.ts'
import { type Command, fittingCommands } from './commands.ts'
import type { LanguageProps } from './language-choice.tsx'

const isOpen = signal(false)
/** Whether the command leads to another place. The dialog gives the focus back when it closes, and then it can be moved. */
const hasGone = { current: false }
export const openPalette = (): void => {
  isOpen.value = true
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
  // Before the next key, which belongs to it already.
  useLayoutEffect(() => {
    if (open && !dialog.current!.open) dialog.current!.showModal()
  }, [open])
  const run = (command: Command | undefined) => {
    // At once: while the dialog is open, nothing behind it can take the focus.
    dialog.current!.close()
    const before = place.value
    command?.run()
    hasGone.current = place.value !== before
  }
  return (
    <dialog
      ref={dialog}
      class="dialog palette"
      aria-label={words.value.palette.title}
      onClose={() => {
        isOpen.value = false
        if (hasGone.current) enterView()
        hasGone.current = false
      }}
    >
      {open ? <Choice onLanguage={onLanguage} run={run} /> : null}
    </dialog>
  )
}

/** Who went to a view reads on there; a panel that was asked for has the focus already. */
function enterView(): void {
  if (document.querySelector('#view:focus-within') === null) document.getElementById('view')?.focus()
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

interface ChoiceProps extends LanguageProps {
  readonly run: (command: Command | undefined) => void
}

function Choice({ onLanguage, run }: ChoiceProps) {
  const typed = useSignal('')
  const commands = fittingCommands(typed.value, onLanguage)
  // The one that Enter does.
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
          // The field itself would only be emptied.
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
      <p class="quiet small">{words.value.palette.keys}</p>
    </form>
  )
}

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Button } from './button.tsx'

interface DialogProps {
  readonly title: string
  readonly open: boolean
  /** Called by the close button, the Escape key and the browser's back gesture. */
  readonly onClose: () => void
  readonly closeWord: string
  readonly children: ComponentChildren
  /** Buttons at the end. */
  readonly actions?: ComponentChildren
}

/** A question or a form over the page. The browser traps the focus and restores it. */
export function Dialog({ title, open, onClose, closeWord, children, actions }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const heading = useId()
  useEffect(() => {
    const dialog = element.current!
    if (open && !dialog.open) dialog.showModal()
    if (!open && dialog.open) dialog.close()
  }, [open])
  return (
    <dialog ref={element} class="dialog" aria-labelledby={heading} onClose={onClose}>
      <div>
        <header>
          <h2 id={heading}>{title}</h2>
          <Button kind="plain" icon label={closeWord} onClick={onClose}>
            ✕
          </Button>
        </header>
        {children}
        {actions === undefined ? null : <footer>{actions}</footer>}
      </div>
    </dialog>
  )
}

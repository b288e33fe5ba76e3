/** A dialog that asks before something that cannot be undone. */
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { pageWords } from '../../frame/language.ts'
import type { Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

/** Asks for confirmation and explains the consequences. @param action absent: nothing to confirm */
export function Sure(props: {
  readonly asks: Signal<boolean>
  readonly title: string
  readonly cancel: string
  readonly action: string | null
  readonly busy?: boolean
  readonly onSure: () => void
  readonly children: ComponentChildren
}) {
  const { asks, title, cancel, action, busy = false, onSure, children } = props
  const close = () => (asks.value = false)
  return (
    <Dialog
      title={title}
      open={asks.value}
      onClose={close}
      closeWord={pageWords.value.close}
      actions={
        <>
          <Button onClick={close}>{cancel}</Button>
          {action === null ? null : (
            <Button kind="danger" busy={busy} onClick={onSure}>
              {action}
            </Button>
          )}
        </>
      }
    >
      {children}
    </Dialog>
  )
}

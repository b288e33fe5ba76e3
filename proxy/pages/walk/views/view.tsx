/** The frame of a view: a heading that takes the focus, and the way back. */
import type { ComponentChildren } from 'preact'
import { Button } from '../../design/button.tsx'
import { goBack } from '../route.ts'

export interface ViewProps {
  readonly title: ComponentChildren
  readonly back?: string
  readonly children: ComponentChildren
}

export const View = ({ title, back, children }: ViewProps) => (
  <main class="view stack">
    {back === undefined ? null : (
      <div>
        <Button kind="plain" onClick={goBack}>
          ‹ {back}
        </Button>
      </div>
    )}
    <h1 tabIndex={-1}>{title}</h1>
    {children}
  </main>
)

/** A sentence about something that went wrong or needs attention; screen readers read it out. */
export const Notice = (props: {
  readonly kind?: 'warning' | 'danger'
  readonly children: ComponentChildren
  readonly action?: ComponentChildren
}) => (
  <div class={['notice', props.kind].filter(Boolean).join(' ')} aria-live="polite">
    <div class="stack-2">
      <p>{props.children}</p>
      {props.action}
    </div>
  </div>
)

/** The frame of a view: a heading that takes the focus, and the way back. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { readFromTop } from '../route.ts'
import { BackBar } from './tabs.tsx'

interface ViewProps {
  readonly title: ComponentChildren
  /** It is behind a tab, or behind the first page. */
  readonly back?: boolean
  /** The one thing to do in a long view: a button that stays in reach, beside the way back. */
  readonly action?: ComponentChildren
  /** Another one is another content, which is read from its top, not from where the button before it was. */
  readonly step?: unknown
  readonly children: ComponentChildren
}

export function View({ title, back, action, step, children }: ViewProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const was = useRef(step)
  useEffect(() => {
    if (step === was.current) return
    was.current = step
    readFromTop(heading.current)
  }, [step])
  return (
    <>
      <main class="view stack">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {children}
      </main>
      {back === true ? <BackBar>{action}</BackBar> : null}
    </>
  )
}

/** The frame of a view: a heading that takes the focus, and the way back. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { readFromTop } from '../route.ts'
import { BackBar } from './tabs.tsx'

interface ViewProps {
  readonly title: ComponentChildren
  /** The view is behind a tab or the first page. */
  readonly back?: boolean
  /** The main action of a long view: a button that stays in reach, beside the back button. */
  readonly action?: ComponentChildren
  /**
   * A new value means new content, which is read from its top rather than from the previous button's
   * position.
   */
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

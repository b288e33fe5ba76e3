/**
 * A bar across the map during a rehearsal, so that nobody takes it for the event: its name says so. Loaded after the first
 * view, so it imports nothing that the page itself uses.
 */
import type { ReadonlySignal } from '@preact/signals'
import type { EventMap } from '#shared/client/index.ts'

/** @param eventName in the reader's language */
export function showRehearsal(
  news: ReadonlySignal<EventMap | null>,
  eventName: ReadonlySignal<string>,
): void {
  const bar = document.createElement('p')
  bar.className = 'rehearsal'
  // The style sheet belongs to the first view.
  Object.assign(bar.style, {
    position: 'fixed',
    inset: '0 0 auto',
    zIndex: '5',
    margin: '0',
    padding: 'var(--space-1) var(--space-3)',
    background: 'var(--warning)',
    color: 'var(--paper)',
    fontWeight: '700',
    textAlign: 'center',
    overflow: 'hidden',
    textOverflow: 'ellipsis',
    whiteSpace: 'nowrap',
    pointerEvents: 'none',
  })
  const show = (): void => {
    bar.textContent = eventName.value
    // Absent: the service of an earlier release.
    if (news.value?.event.rehearsal !== true) bar.remove()
    else if (!bar.isConnected) document.body.append(bar)
  }
  news.subscribe(show)
  eventName.subscribe(show)
}

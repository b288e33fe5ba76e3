/** What the forms of the event's settings have in common: times, and who changed what. */
import type { ComponentChildren } from 'preact'
import { date, instantOf, localTime } from '../../clock.ts'
import type { EventSettings as Settings } from '../../event.ts'
import { pair, words } from '../../words.ts'

/** How long a form says that it was saved. */
export const TOAST_MS = 8_000

/** A time for an input of type `datetime-local`, in the event's zone. */
export const localOf = (at: string | null): string => (at === null ? '' : localTime(at).replace(' ', 'T'))
export const instantOrNull = (local: string | undefined): string | null => (local ? instantOf(local) : null)

export const Meanwhile = ({ text }: { readonly text: string }) => (
  <strong class="small warn-text">{pair(words.value.event.meanwhile, text.replace('T', ' ') || '–')}</strong>
)

interface ChangedProps {
  readonly settings: Pick<Settings['name'], 'changed_at' | 'changed_by'>
  readonly children: ComponentChildren
}

export const Changed = ({ settings: { changed_at, changed_by }, children }: ChangedProps) => (
  <div class="row">
    {children}
    {changed_at === null ? null : (
      <span class="small quiet">
        {[date(changed_at), changed_by].filter((text) => text !== null).join(' · ')}
      </span>
    )}
  </div>
)

/**
 * A form for a part of the event's settings: it starts with the stored values, and is saved under their
 * version.
 */
import type { Answer } from '#shared/client/index.ts'
import type { EventPart } from '#shared/contracts/event-settings.ts'
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { date, instantOf, localTime } from '../../clock.ts'
import { type EventSettings as Settings, readEvent } from '../../event.ts'
import { useSave, warn } from '../../parts/actions.tsx'
import { refusalOf } from '../../parts/panel.tsx'
import type { Resource } from '../../resource.ts'
import { pair, words } from '../../words.ts'
import { Button } from '../../../design/button.tsx'
import { showToast } from '../../../design/toast.tsx'
import { pageWords } from '../../../frame/language.ts'

/** How long a form confirms that it was saved. */
const TOAST_MS = 8_000

/** A time for an input of type `datetime-local`, in the event's zone. */
export const localOf = (at: string | null): string => (at === null ? '' : localTime(at).replace(' ', 'T'))
export const instantOrNull = (local: string | undefined): string | null => (local ? instantOf(local) : null)

export interface PartProps {
  readonly from: Resource<Settings>
  readonly settings: Settings
}

interface Editing<V> {
  /** Values of the form: the unsaved ones, otherwise the stored ones. */
  readonly value: V
  readonly change: (by: Partial<V>) => void
  /**
   * The stored values that the edit started from, after a save failed because of another owner's change;
   * null: no conflict.
   */
  readonly overtaken: V | null
  readonly form: FormState
}

interface FormState {
  readonly isTouched: boolean
  readonly busy: boolean
  readonly submit: () => Promise<void>
  readonly close: () => void
}

/**
 * Edits a part. After a failed save, the owner sees the stored values beside their own; saving again replaces
 * them.
 * @param stored the stored values in the form's type
 */
export function useEditing<V extends object>(
  { from, settings }: PartProps,
  part: EventPart,
  {
    stored,
    save,
    saved = words.value.common.saved,
  }: {
    readonly stored: V
    readonly save: (value: V, version: number) => Promise<Answer<Settings>>
    readonly saved?: string
  },
): Editing<V> {
  const draft = useSignal<V | null>(null)
  /**
   * What the edit starts from: the stored values, the version of their part, and the version to save under.
   * The last one is newer after a failed save.
   */
  const base = useSignal({ seen: stored, since: 0, version: 0 })
  const value = draft.value ?? stored
  const baseOf = (seen: V, of: Settings) => ({ seen, since: of[part].version, version: of.version })
  const close = () => {
    draft.value = null
  }
  const saveDraft = async (typed: V | null): Promise<boolean> => {
    const sent = typed ?? stored
    const answer = await save(sent, typed === null ? settings.version : base.value.version)
    // Reload only the settings: filling in several forms must not exhaust the rate limit.
    await from.reload()
    if (answer.ok) {
      base.value = baseOf(sent, answer.data)
      showToast(saved, { forMs: TOAST_MS })
      void readEvent()
    } else {
      warn(answer.error, refusalOf)
      const fresh = from.value.value
      if (fresh !== null) base.value = { ...base.value, version: fresh.version }
    }
    return answer.ok
  }
  const { seen, since, version } = base.value
  return {
    value,
    change: (by) => {
      if (draft.peek() === null) base.value = baseOf(stored, settings)
      draft.value = { ...(draft.peek() ?? stored), ...by }
    },
    overtaken:
      draft.value !== null && settings[part].version > since && version >= settings[part].version
        ? seen
        : null,
    form: { isTouched: draft.value !== null, ...useSave(draft, saveDraft, close), close },
  }
}

interface PartFormProps {
  readonly title: string
  readonly part: Settings[EventPart]
  readonly form: FormState
  readonly class?: string
  /** Shown next to the buttons. */
  readonly aside?: ComponentChildren
  /** Default values can be saved unchanged. */
  readonly confirms?: boolean
  readonly children: ComponentChildren
}

export function PartForm(props: PartFormProps) {
  const { title, part, form, class: name = 'event-form', aside, confirms = true, children } = props
  const { isTouched, busy, submit, close } = form
  const { version, changed_at: at, changed_by: by } = part
  return (
    <form
      class={name}
      aria-label={title}
      onSubmit={(submitted) => {
        submitted.preventDefault()
        void submit()
      }}
    >
      {children}
      <div class="row">
        {aside}
        {!isTouched && (version > 0 || !confirms) ? null : (
          <Button kind="primary" type="submit" busy={busy}>
            {words.value.common.save}
          </Button>
        )}
        {isTouched ? <Button onClick={close}>{pageWords.value.cancel}</Button> : null}
        {at === null ? null : (
          <span class="small quiet">{[date(at), by].filter((text) => text !== null).join(' · ')}</span>
        )}
      </div>
    </form>
  )
}

/** What another owner has saved meanwhile. */
export const Meanwhile = ({ text }: { readonly text: string }) => (
  <strong class="small warn-text">{pair(words.value.event.meanwhile, text.replace('T', ' ') || '–')}</strong>
)

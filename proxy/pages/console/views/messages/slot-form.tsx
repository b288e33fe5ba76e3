import type { TargetedSubmitEvent } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Button } from '../../../design/button.tsx'
import { words } from '../../words.ts'
import { fieldText } from '../../parts/field-text.ts'
import type { Slot } from './slot.ts'

const AUDIENCES = ['all', 'participants', 'volunteers', 'managers', 'owners', 'completed'] as const

/** Reads the form's fields. The service checks them again and says what is wrong. */
function slotOf(form: HTMLFormElement): Slot {
  const data = new FormData(form)
  const text = (name: string): string => fieldText(data, name)
  const english = text('en')
  return {
    id: text('id'),
    enabled: true,
    hour: Number(text('hour')),
    dates: null,
    audience: AUDIENCES.find((name) => name === text('audience')) ?? 'participants',
    text: { 'zh-Hant': text('zh'), ...(english === '' ? {} : { en: english }) },
  }
}

interface Props {
  readonly onSave: (slot: Slot) => Promise<void>
  readonly onCancel: () => void
}

export function SlotForm({ onSave, onCancel }: Props) {
  const said = words.value.messages
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => form.current!.querySelector('input')!.focus(), [])
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    void onSave(slotOf(event.currentTarget))
  }
  return (
    <form ref={form} class="slot-form" onSubmit={submit}>
      <label class="field">
        <span>{said.slotId}</span>
        <input type="text" name="id" required pattern="[a-z0-9][a-z0-9\-]{0,62}" placeholder="morning" />
      </label>
      <label class="field">
        <span>{said.slotHour}</span>
        <input type="number" name="hour" min="0" max="23" defaultValue="9" required />
      </label>
      <label class="field">
        <span>{said.audience}</span>
        <select name="audience">
          {AUDIENCES.map((name) => (
            <option key={name} value={name}>
              {said.audiences[name]}
            </option>
          ))}
        </select>
      </label>
      <label class="field wide">
        <span>{said.slotText} · 繁體中文</span>
        <textarea name="zh" required maxLength={5_000} />
      </label>
      <label class="field wide">
        <span>{said.slotText} · English</span>
        <textarea name="en" maxLength={5_000} />
      </label>
      <div class="row wide">
        <Button kind="primary" type="submit">
          {words.value.common.save}
        </Button>
        <Button onClick={onCancel}>{words.value.common.cancel}</Button>
      </div>
    </form>
  )
}

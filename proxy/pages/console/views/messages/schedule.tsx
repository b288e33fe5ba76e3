/** Scheduled notifications. An owner edits them; everybody else reads them. */
import { useSignal } from '@preact/signals'
import { Button } from '../../../design/button.tsx'
import { act } from '../../parts/act.ts'
import { status } from '../../live.ts'
import { PanelFrom } from '../../parts/panel.tsx'
import { useResource } from '../../resource.ts'
import { client, level, OWNER } from '../../session.ts'
import { consoleLanguage, fill, words } from '../../words.ts'
import type { Slot } from './slot.ts'
import { SlotForm } from './slot-form.tsx'

const EVERY_MS = 60_000

const save = (slots: readonly Slot[]) =>
  act(client.setNotifications({ slots: [...slots] }), (plan) =>
    fill(words.value.messages.saved, { count: plan.slots.length }),
  )

export function Schedule() {
  const plan = useResource((signal) => client.readNotifications({}, { signal }), EVERY_MS, 'notifications')
  const said = words.value.messages
  return (
    <PanelFrom title={said.schedule} kind="schedule" from={plan}>
      {({ slots, defaults }) => (
        <>
          <Rests />
          {defaults ? <p class="small quiet">{said.defaults}</p> : null}
          <ul class="rows">
            {slots.map((slot) => (
              <SlotRow key={slot.id} slot={slot} slots={slots} />
            ))}
            {slots.length === 0 ? <li class="quiet">{words.value.common.none}</li> : null}
          </ul>
          <Additions slots={slots} />
        </>
      )}
    </PanelFrom>
  )
}

/** The scheduler sends nothing after the end. */
const hasEnded = (): boolean => status.value?.status === 'ended'

/** Why nothing of the schedule is sent now. */
function Rests() {
  const said = words.value.messages
  const state = status.value?.status
  if (state !== 'ended' && state !== 'paused') return null
  return <p class="notice warning">{state === 'ended' ? said.scheduleEnded : said.schedulePaused}</p>
}

interface RowProps {
  readonly slot: Slot
  readonly slots: readonly Slot[]
}

function SlotRow({ slot, slots }: RowProps) {
  const said = words.value.messages
  const others = slots.filter(({ id }) => id !== slot.id)
  const replace = (next: Slot) => save(slots.map((one) => (one.id === slot.id ? next : one)))
  return (
    <li class={slot.enabled && !hasEnded() ? undefined : 'quiet'}>
      <strong>{fill(said.at, { hour: String(slot.hour).padStart(2, '0') })}</strong>
      <div class="grow">
        <p>{slot.text[consoleLanguage.value] ?? slot.text['zh-Hant']}</p>
        <p class="small quiet">
          {slot.id} · {said.audiences[slot.audience]} ·{' '}
          {slot.dates === null ? said.everyDay : slot.dates.join(', ')}
        </p>
      </div>
      {hasEnded() ? (
        <span class="badge">{said.notSent}</span>
      ) : level.value >= OWNER ? (
        <div class="row-actions">
          <Button
            aria-pressed={slot.enabled}
            onClick={() => void replace({ ...slot, enabled: !slot.enabled })}
          >
            {slot.enabled ? said.on : said.off}
          </Button>
          <Button kind="plain" onClick={() => void save(others)}>
            {said.removeSlot}
          </Button>
        </div>
      ) : (
        <span class="badge">{slot.enabled ? said.on : said.off}</span>
      )}
    </li>
  )
}

function Additions({ slots }: { readonly slots: readonly Slot[] }) {
  if (hasEnded()) return null
  if (level.value >= OWNER) return <AddSlot slots={slots} />
  return <p class="small quiet">{words.value.messages.ownerOnly}</p>
}

function AddSlot({ slots }: { readonly slots: readonly Slot[] }) {
  const open = useSignal(false)
  if (!open.value)
    return (
      <p>
        <Button onClick={() => (open.value = true)}>{words.value.messages.addSlot}</Button>
      </p>
    )
  return (
    <SlotForm
      onCancel={() => (open.value = false)}
      onSave={async (slot) => {
        if ((await save([...slots, slot])) !== null) open.value = false
      }}
    />
  )
}

/** Scheduled reminders. An owner edits them; everybody else reads them. */
import { useSignal } from '@preact/signals'
import { Button } from '../../../design/button.tsx'
import { instantOf, now, shortDay } from '../../clock.ts'
import { status } from '../../live.ts'
import { PanelFrom } from '../../parts/panel.tsx'
import { useResource } from '../../resource.ts'
import { client, level, OWNER } from '../../session.ts'
import { consoleLanguage, words } from '../../words.ts'
import {
  removeSlot,
  saveSlot,
  type Bounds,
  hourText,
  nextSending,
  type NextSending,
  nextText,
  type Slot,
} from './slot.ts'
import { SlotForm } from './slot-form.tsx'

const EVERY_MS = 60_000
const CONFIG_MS = 600_000
/** Nobody edits one: the form is closed, or of a new one. */
const NONE = ''

/** When the event is. Until it is known, it has no bounds. */
function useBounds(): Bounds {
  const config = useResource((signal) => client.readEventConfig({}, { signal }), CONFIG_MS, 'config').value
  const { starts_at = null, ends_at = null } = config.value ?? {}
  return {
    startsMs: starts_at === null ? -Infinity : Date.parse(starts_at),
    endsMs: ends_at === null ? Infinity : Date.parse(ends_at),
  }
}

interface Dated {
  readonly slot: Slot
  readonly next: NextSending | null
}

/** In the order in which they are sent; those that are over come last. */
const inOrder = (slots: readonly Slot[], bounds: Bounds): readonly Dated[] =>
  slots
    .map((slot) => ({ slot, next: nextSending(slot, now.value, bounds) }))
    .toSorted((a, b) => (a.next?.atMs ?? Infinity) - (b.next?.atMs ?? Infinity) || a.slot.hour - b.slot.hour)

export function Schedule() {
  const plan = useResource((signal) => client.readNotifications({}, { signal }), EVERY_MS, 'notifications')
  const bounds = useBounds()
  const edited = useSignal(NONE)
  const said = words.value.schedule
  return (
    <PanelFrom title={said.title} kind="schedule" from={plan}>
      {({ slots, defaults }) => (
        <>
          <Rests />
          <p class="small quiet">{defaults ? `${said.help} ${said.defaults}` : said.help}</p>
          <ul class="rows">
            {inOrder(slots, bounds).map((dated) =>
              dated.slot.id === edited.value ? (
                <li key={dated.slot.id}>
                  <SlotForm slot={dated.slot} bounds={bounds} onClose={() => (edited.value = NONE)} />
                </li>
              ) : (
                <SlotRow key={dated.slot.id} {...dated} onEdit={() => (edited.value = dated.slot.id)} />
              ),
            )}
            {slots.length === 0 ? <li class="quiet">{words.value.common.none}</li> : null}
          </ul>
          <Additions bounds={bounds} />
        </>
      )}
    </PanelFrom>
  )
}

/** The scheduler sends nothing after the end. */
const hasEnded = (): boolean => status.value?.status === 'ended'

/** Why nothing of the schedule is sent now. */
function Rests() {
  const said = words.value.schedule
  const state = status.value?.status
  if (state !== 'ended' && state !== 'paused') return null
  return <p class="notice warning">{state === 'ended' ? said.ended : said.paused}</p>
}

const textOf = ({ text }: Slot): string => text[consoleLanguage.value] ?? text['zh-Hant']

/** The text that most pilgrims get, beside that in the console's language. */
const MostRead = ({ slot }: { readonly slot: Slot }) =>
  slot.text['zh-Hant'] === textOf(slot) ? null : (
    <p class="slot-text quiet" lang="zh-Hant">
      {slot.text['zh-Hant']}
    </p>
  )

/** `every day of the event`, or its days. */
const daysOf = ({ dates }: Slot): string =>
  dates === null
    ? words.value.schedule.everyDay
    : dates
        .toSorted()
        .map((day) => shortDay(instantOf(`${day}T12:00`)))
        .join(', ')

function SlotRow({ slot, next, onEdit }: Dated & { readonly onEdit: () => void }) {
  const said = words.value.schedule
  const goes = slot.enabled && next !== null && !hasEnded()
  return (
    <li class={goes ? undefined : 'quiet'}>
      <strong>{hourText(slot.hour)}</strong>
      <div class="grow">
        <p class="slot-text">{textOf(slot)}</p>
        <MostRead slot={slot} />
        {hasEnded() ? null : <p class="small">{slot.enabled ? nextText(next) : said.isOff}</p>}
        <p class="small quiet">
          {words.value.messages.audiences[slot.audience]} · {daysOf(slot)}
        </p>
      </div>
      {hasEnded() ? (
        <span class="badge">{said.notSent}</span>
      ) : level.value >= OWNER ? (
        <div class="row-actions">
          <Button
            aria-pressed={slot.enabled}
            onClick={() => void saveSlot({ ...slot, enabled: !slot.enabled })}
          >
            {slot.enabled ? said.on : said.off}
          </Button>
          <Button kind="plain" onClick={onEdit}>
            {said.edit}
          </Button>
          <Button kind="plain" onClick={() => void removeSlot(slot, textOf(slot))}>
            {said.remove}
          </Button>
        </div>
      ) : (
        <span class="badge">{slot.enabled ? said.on : said.off}</span>
      )}
    </li>
  )
}

function Additions({ bounds }: { readonly bounds: Bounds }) {
  const open = useSignal(false)
  const said = words.value.schedule
  if (hasEnded()) return null
  if (level.value < OWNER) return <p class="small quiet">{said.ownerOnly}</p>
  if (open.value) return <SlotForm slot={null} bounds={bounds} onClose={() => (open.value = false)} />
  return (
    <p>
      <Button onClick={() => (open.value = true)}>{said.add}</Button>
    </p>
  )
}
